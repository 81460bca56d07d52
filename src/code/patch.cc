#include "code/patch.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"

namespace amdahl::code {
namespace {

constexpr std::size_t kContextLines = 3;

bool can_be_named(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.front() == '-') return false;
  if (path.find("..") != path.npos) return false;
  return std::ranges::none_of(path, [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '\\' || c == 127;
  });
}

// With their line ends.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::size_t size = end == text.npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

void add_line(std::string& out, char mark, std::string_view line) {
  out += mark;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

// "3,2", and as diffs have it "2,0" for nothing after line 2.
std::string place(std::size_t first, std::size_t count) {
  return fmt::format("{},{}", count == 0 ? first : first + 1, count);
}

}  // namespace

std::string edited(std::string_view bytes, std::vector<Edit> edits) {
  std::ranges::sort(edits, {}, &Edit::begin);
  std::string out;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    CHECK(edit.begin >= at && edit.end >= edit.begin && edit.end <= bytes.size());
    out += bytes.substr(at, edit.begin - at);
    out += edit.text;
    at = edit.end;
  }
  out += bytes.substr(at);
  return out;
}

std::string unified_diff(std::string_view path, std::string_view bytes,
                         const std::vector<Edit>& edits) {
  if (edits.empty() || !can_be_named(path)) return {};
  const std::string after = edited(bytes, edits);
  const auto olds = lines_of(bytes);
  const auto news = lines_of(after);
  // Edits of one finding are near each other: all of them are one hunk.
  std::size_t head = 0;
  while (head < olds.size() && head < news.size() && olds[head] == news[head]) ++head;
  std::size_t tail = 0;
  while (tail < olds.size() - head && tail < news.size() - head &&
         olds[olds.size() - 1 - tail] == news[news.size() - 1 - tail]) {
    ++tail;
  }
  if (head == olds.size() && head == news.size()) return {};
  const std::size_t first = head - std::min(head, kContextLines);
  const std::size_t old_end = olds.size() - tail + std::min(tail, kContextLines);
  const std::size_t new_end = news.size() - tail + std::min(tail, kContextLines);

  std::string out = fmt::format("--- a/{}\n+++ b/{}\n@@ -{} +{} @@\n", path, path,
                                place(first, old_end - first), place(first, new_end - first));
  for (std::size_t i = first; i < head; ++i) add_line(out, ' ', olds[i]);
  for (std::size_t i = head; i < olds.size() - tail; ++i) add_line(out, '-', olds[i]);
  for (std::size_t i = head; i < news.size() - tail; ++i) add_line(out, '+', news[i]);
  for (std::size_t i = olds.size() - tail; i < old_end; ++i) add_line(out, ' ', olds[i]);
  return out;
}

}  // namespace amdahl::code
