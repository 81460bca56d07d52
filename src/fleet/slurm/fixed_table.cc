#include "fleet/slurm/fixed_table.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::fleet::slurm {
namespace {

constexpr char kDelimiter = '\x1f';  // Stands in no cell.

Error no_columns(std::string_view why) {
  return bad_input(
      fmt::format("is sacct output in fixed-width columns, {}; {}", why, how_to_ask_sacct()));
}

bool is_dashes(std::string_view line) {
  return line.find('-') != line.npos && line.find_first_not_of("- ") == line.npos;
}

}  // namespace

bool is_fixed_width_header(std::string_view line) {
  bool id = false;
  bool other = false;
  for (std::string_view rest = trim(line); !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    if (word.find_first_of(",;|\t") != word.npos) return false;
    if (lower(word).find("gpu") != word.npos) return false;  // Somebody's own: sacct has no such.
    id = id || word == "JobID" || word == "JobIDRaw";
    for (const std::string_view name :
         {"State", "JobName", "Start", "End", "Submit", "Elapsed", "AllocTRES", "NodeList"}) {
      other = other || word == name;
    }
    rest = trim(rest.substr(end));
  }
  return id && other;
}

void FixedTable::find_spans(std::string_view dashes) {
  for (std::size_t at = 0; (at = dashes.find('-', at)) != dashes.npos;) {
    const std::size_t end = std::min(dashes.find(' ', at), dashes.size());
    spans_.push_back({.begin = at, .size = end - at});
    at = end;
  }
  for (Span& span : spans_) {
    const std::string name = lower(cell(header_, span));
    span.is_id = name == "jobid" || name == "jobidraw";
    span.is_tres = name.starts_with("alloctre") || name.starts_with("allocgre");
    span.is_hosts = name == "nodelist";
  }
}

std::string_view FixedTable::cell(std::string_view line, const Span& span) const {
  return span.begin < line.size() ? trim(line.substr(span.begin, span.size)) : std::string_view();
}

std::string FixedTable::names() const {
  std::string text;
  for (const Span& span : spans_) {
    if (!text.empty()) text += kDelimiter;
    const std::string_view name = cell(header_, span);
    text += name.empty() ? "x" : name;
  }
  return text;
}

Result<> FixedTable::line(std::string_view line, Where where) {
  if (trim(line).empty()) return Ok{};
  if (header_.empty()) {
    header_ = line;
    return Ok{};
  }
  if (spans_.empty()) {
    if (!is_dashes(line)) return no_columns("without the line of dashes under the header");
    find_spans(line);
    const std::string header = names();
    if (!is_table_header(header)) return no_columns("with too few columns");
    return table_.line(header, where);
  }
  if (line == header_ || is_dashes(line)) return Ok{};  // Files joined one behind the other.
  std::string record;
  for (const Span& span : spans_) {
    std::string_view text = cell(line, span);
    const bool is_cut = text.size() == span.size && text.ends_with('+');
    const bool is_step = span.is_id && text.find('.') != text.npos;
    if (is_cut && (span.is_id || span.is_tres) && !is_step) {
      intake_.trouble(model::Trouble::kBadLine, where,
                      fmt::format("'{}' is cut; {}", text, how_to_ask_sacct()));
      return Ok{};
    }
    if (is_cut && span.is_hosts) text = {};
    if (&span != &spans_.front()) record += kDelimiter;
    record += text;
  }
  return table_.line(record, where);
}

Result<> FixedTable::finish() {
  if (spans_.empty()) return no_columns("without the line of dashes under the header");
  table_.finish();
  return Ok{};
}

}  // namespace amdahl::fleet::slurm
