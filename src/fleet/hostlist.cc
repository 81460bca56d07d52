#include "fleet/hostlist.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::fleet {
namespace {

using Names = std::vector<std::string>;

// No list nests deeper; what does is made to exhaust us.
constexpr int kDeepest = 8;

// Pieces between commas that stand outside brackets.
Result<std::vector<std::string_view>> pieces_of(std::string_view list) {
  std::vector<std::string_view> pieces;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '[') ++depth;
    if (list[i] == ']' && --depth < 0) return bad_input("has a ']' without a '['");
    if (list[i] == ',' && depth == 0) {
      pieces.push_back(list.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  if (depth != 0) return bad_input("has a '[' without a ']'");
  pieces.push_back(list.substr(begin));
  return pieces;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

Error too_many(std::size_t most) {
  return bad_input(fmt::format("names more than {} hosts", most));
}

// "001-010:3" or "7" inside brackets; false if it is not a range, and so a name of its own.
Result<bool> add_range(std::string_view text, Names& names, std::size_t most) {
  std::int64_t step = 1;
  if (const std::size_t at = text.find_first_of(":/"); at != text.npos) {
    const auto read = to_number<std::int64_t>(text.substr(at + 1));
    if (!read || *read < 1) return false;
    step = *read;
    text = text.substr(0, at);
  }
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  const std::string_view high = dash == text.npos ? low : text.substr(dash + 1);
  if (!all_digits(low) || !all_digits(high)) return false;
  const auto from = to_number<std::int64_t>(low);
  const auto to = to_number<std::int64_t>(high);
  if (!from || !to || *to < *from) {
    return bad_input(fmt::format("'{}' is not a range", clip(text, 40)));
  }
  if (static_cast<std::uint64_t>(*to - *from) / static_cast<std::uint64_t>(step) >= most) {
    return too_many(most);
  }
  const std::size_t width = low.size() > 1 && low.front() == '0' ? low.size() : 1;
  for (std::int64_t i = *from; i <= *to; i += step)
    names.push_back(fmt::format("{:0{}}", i, width));
  return true;
}

struct Limits {
  std::size_t most;
  int depth;
};

Result<Names> expand_list(std::string_view list, Limits limits, bool ranges);

// One name, whose brackets stand for alternatives.
Result<Names> expand_name(std::string_view text, Limits limits) {
  Names heads = {""};
  while (!text.empty()) {
    const std::size_t open = text.find('[');
    for (std::string& head : heads) head += text.substr(0, open);
    if (open == text.npos) break;
    std::size_t close = open;
    for (int depth = 0; close < text.size(); ++close) {
      if (text[close] == '[') ++depth;
      if (text[close] == ']' && --depth == 0) break;
    }
    const Limits inside{limits.most, limits.depth + 1};
    const Names tails = TRY(expand_list(text.substr(open + 1, close - open - 1), inside, true));
    if (heads.size() * tails.size() > limits.most) return too_many(limits.most);
    Names joined;
    joined.reserve(heads.size() * tails.size());
    for (const std::string& head : heads) {
      for (const std::string& tail : tails) joined.push_back(head + tail);
    }
    heads = std::move(joined);
    text = text.substr(close + 1);
  }
  return heads;
}

Result<Names> expand_list(std::string_view list, Limits limits, bool ranges) {
  if (limits.depth > kDeepest) return bad_input("nests brackets too deep");
  Names names;
  for (std::string_view piece : TRY(pieces_of(list))) {
    piece = trim(piece);
    if (piece.empty()) continue;
    if (ranges && TRY(add_range(piece, names, limits.most))) continue;
    for (std::string& name : TRY(expand_name(piece, limits))) names.push_back(std::move(name));
    if (names.size() > limits.most) return too_many(limits.most);
  }
  return names;
}

}  // namespace

Result<std::vector<std::string>> expand_hosts(std::string_view list, std::size_t most) {
  list = trim(list);
  for (const std::string_view nothing : {"None assigned", "(null)", "N/A", "None", "Unknown"}) {
    if (list == nothing) return Names{};
  }
  return expand_list(list, {most, 0}, false).in(fmt::format("hosts '{}'", clip(list, 60)));
}

std::vector<int> expand_indices(std::string_view list) {
  constexpr std::size_t kMostIndices = 4096;
  std::vector<int> indices;
  for (const std::string_view piece : split(list, ',')) {
    Names names;
    const auto taken = add_range(trim(piece), names, kMostIndices);
    if (!taken || !*taken || names.size() + indices.size() > kMostIndices) return {};
    for (const std::string& name : names) {
      const auto index = to_number<int>(name);
      if (!index) return {};
      indices.push_back(*index);
    }
  }
  return indices;
}

std::string_view short_host(std::string_view host) {
  const std::size_t close = host.find(']');
  if (host.starts_with('[') && close != host.npos) return host.substr(0, close + 1);
  if (std::ranges::count(host, ':') == 1) host = host.substr(0, host.find(':'));
  const bool address = host.find_first_not_of("0123456789.:abcdefABCDEF") == host.npos &&
                       (host.find(':') != host.npos || std::ranges::count(host, '.') == 3);
  return address ? host : host.substr(0, host.find('.'));
}

std::string host_key(std::string_view host) {
  std::string key(short_host(host));
  for (char& c : key) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return key;
}

}  // namespace amdahl::fleet
