#include "base/text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include <fmt/core.h>

#include "base/glyph.h"

namespace amdahl {
namespace {

// Letters to add, drop, change or swap with their neighbour: what fingers get wrong.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::vector<std::size_t> above = row;
  std::vector<std::size_t> above_that = row;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    above_that.swap(above);
    above = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], above_that[j - 2] + 1);
    }
  }
  return row[b.size()];
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./=:,@%+").find(c) != std::string_view::npos;
}

}  // namespace

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> pieces;
  while (true) {
    const auto end = text.find(at);
    pieces.push_back(text.substr(0, end));
    if (end == text.npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::string join(std::span<const std::string> pieces, std::string_view between) {
  std::string text;
  for (const std::string& piece : pieces) {
    if (&piece != pieces.data()) text += between;
    text += piece;
  }
  return text;
}

std::optional<std::string_view> did_you_mean(std::string_view word,
                                             std::span<const std::string_view> candidates) {
  std::optional<std::string_view> best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string shell_quote(std::span<const std::string> argv) {
  std::string line;
  for (const std::string& word : argv) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && std::ranges::all_of(word, is_plain)) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      if (c == '\'') {
        line += "'\\''";
      } else {
        line += c;
      }
    }
    line += '\'';
  }
  return line;
}

std::string show_duration(Nanos time) {
  const double seconds = to_seconds(time);
  const double size = std::abs(seconds);
  if (size == 0) return "0 s";
  if (size < 1e-3) return fmt::format("{:.0f} µs", seconds * 1e6);
  if (size < 0.1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (size < 10) return fmt::format("{:.2f} s", seconds);
  if (size < 90) return fmt::format("{:.0f} s", seconds);
  const long whole = std::lround(seconds);
  if (size < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  if (size < 48 * 3600) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  return fmt::format("{:.1f} days", seconds / 86400);
}

std::string show_percent(double share) {
  const double percent = 100 * share;
  if (std::abs(percent) < 9.995) return fmt::format("{:.1f} %", percent == 0 ? 0.0 : percent);
  return fmt::format("{:.0f} %", percent);
}

std::string show_number(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (size < 1e-4) return value > 0 ? "< 0.0001" : "> -0.0001";
  if (size >= 1e15) return value > 0 ? "over 10^15" : "under -10^15";
  if (size >= 100) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  if (size >= 1) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3g}", value);
}

std::string clip(std::string_view text, std::size_t width) {
  std::size_t columns = 0;
  std::size_t cut = 0;  // Where the text must end if a mark is to follow.
  for (std::size_t i = 0; i < text.size();) {
    const Glyph glyph = first_glyph(text.substr(i));
    if (columns + 1 <= width) cut = i;
    columns += glyph.columns;
    if (columns > width) return std::string(text.substr(0, cut)) + "…";
    i += glyph.bytes;
  }
  return std::string(text);
}

}  // namespace amdahl
