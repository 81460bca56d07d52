#include "trace/ncu/csv_rows.h"

namespace amdahl::trace::ncu {
namespace {

// Far above any row of Nsight; an unclosed quote would swallow the rest of the file.
constexpr std::size_t kLongestRow = std::size_t{1} << 20U;

}  // namespace

void split_csv(std::string_view row, std::vector<std::string>& fields) {
  fields.clear();
  std::size_t at = 0;
  while (true) {
    std::string& field = fields.emplace_back();
    if (at < row.size() && row[at] == '"') {
      for (++at; at < row.size(); ++at) {
        if (row[at] == '"') {
          if (at + 1 >= row.size() || row[at + 1] != '"') break;
          ++at;
        }
        field += row[at];
      }
      ++at;
    }
    const std::size_t comma = at < row.size() ? row.find(',', at) : row.npos;
    if (at < row.size()) field += row.substr(at, comma - at);
    if (comma == row.npos) return;
    at = comma + 1;
  }
}

std::size_t CsvRows::end_of_row(std::size_t begin, bool is_last) {
  const std::string_view text = pending_;
  if (begin == text.size()) return text.npos;
  if (text[begin] != '"') {
    const auto end = text.find('\n', begin);
    if (end != text.npos) return end + 1;
    return is_last ? text.size() : text.npos;
  }
  bool quoted = false;
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (text[at] == '"') quoted = !quoted;
    const bool ends = text[at] == '\n' && !quoted;
    if (!ends && at - begin < kLongestRow) continue;
    if (ends) return at + 1;
    // Skipped: the next line is tried as a row.
    ++too_long_;
    pending_[begin] = ' ';
    const auto end = text.find('\n', begin);
    return end == text.npos ? text.size() : end + 1;
  }
  if (!is_last) return text.npos;
  if (!quoted) return text.size();
  // The quote is never closed: only the first line is lost.
  ++too_long_;
  pending_[begin] = ' ';
  const auto end = text.find('\n', begin);
  return end == text.npos ? text.size() : end + 1;
}

void CsvRows::take(std::string_view row) {
  while (row.ends_with('\n') || row.ends_with('\r')) row.remove_suffix(1);
  if (row.empty()) return;
  split_csv(row, fields_);
  each_(fields_);
}

void CsvRows::feed(std::string_view bytes) {
  pending_ += bytes;
  std::size_t begin = 0;
  for (auto end = end_of_row(begin, false); end != std::string::npos;
       end = end_of_row(begin, false)) {
    take(std::string_view(pending_).substr(begin, end - begin));
    begin = end;
  }
  pending_.erase(0, begin);
}

void CsvRows::finish() {
  std::size_t begin = 0;
  for (auto end = end_of_row(begin, true); end != std::string::npos;
       end = end_of_row(begin, true)) {
    take(std::string_view(pending_).substr(begin, end - begin));
    begin = end;
  }
  pending_.clear();
}

}  // namespace amdahl::trace::ncu
