#include "code/looks.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"

namespace amdahl::code {
namespace {

// The text from the start of the line to `at`; empty and false for a line longer than any person
// writes.
struct Before {
  std::string_view text;
  bool found = false;
};

Before line_before(std::string_view bytes, std::uint32_t at) {
  constexpr std::size_t kLongestLine = 1000;
  const std::size_t from = at - std::min<std::size_t>(at, kLongestLine);
  const auto newline = bytes.substr(from, at - from).rfind('\n');
  if (newline == bytes.npos && from > 0) return {};
  const std::size_t begin = newline == bytes.npos ? from : from + newline + 1;
  return {bytes.substr(begin, at - begin), true};
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r") == text.npos; }

}  // namespace

std::string_view last_receiver(const Site& site) {
  std::string_view text = site.receiver;
  constexpr std::size_t kLongest = 100;
  if (text.size() > kLongest) text.remove_prefix(text.size() - kLongest);
  const auto at = text.find_last_of(".>:");
  return at == text.npos ? text : text.substr(at + 1);
}

bool is_number(std::string_view text) { return to_number<long>(text).has_value(); }

bool is_plain_name(std::string_view text) {
  return !text.empty() && text.size() < 100 && std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
}

bool is_used(const Subject& subject, std::string_view name) {
  return std::ranges::any_of(subject.all,
                             [&](const Facts& facts) { return facts.used.contains(name); });
}

std::vector<Edit> replace(const Range& range, std::string_view text) {
  return {{range.begin, range.end, std::string(text)}};
}

std::vector<Edit> add_keyword(const Subject& subject, std::string_view keyword,
                              std::string_view value) {
  const Site& site = subject.site;
  const Range& list = site.arguments_range;
  if (list.end < list.begin + 2) return {};
  if (site.last_argument.end == 0) {
    // Only "()" itself: anything else between the brackets is a comment.
    if (list.end != list.begin + 2) return {};
    return {{list.begin + 1, list.begin + 1, fmt::format("{}={}", keyword, value)}};
  }
  const Range& last = site.last_argument;
  const Before before = line_before(subject.facts.bytes, last.begin);
  const bool own_line = before.found && is_blank(before.text) && last.line > list.line;
  const std::string between = own_line ? fmt::format(",\n{}", before.text) : ", ";
  return {{last.end, last.end, fmt::format("{}{}={}", between, keyword, value)}};
}

std::vector<Edit> drop_statement(const Subject& subject) {
  const Site& site = subject.site;
  if (!site.is_statement) return {};
  const std::string_view bytes = subject.facts.bytes;
  const Before before = line_before(bytes, site.statement.begin);
  const auto newline = bytes.find('\n', site.statement.end);
  if (!before.found || !is_blank(before.text) || newline == bytes.npos) return {};
  if (!is_blank(bytes.substr(site.statement.end, newline - site.statement.end))) return {};
  if (site.is_alone) return replace(site.statement, "pass");
  const auto begin = site.statement.begin - static_cast<std::uint32_t>(before.text.size());
  return {{begin, static_cast<std::uint32_t>(newline + 1), ""}};
}

}  // namespace amdahl::code
