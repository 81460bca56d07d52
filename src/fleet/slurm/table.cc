#include "fleet/slurm/table.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace amdahl::fleet::slurm {
namespace {

struct Field {
  std::string_view name;  // Lower case.
  std::string_view Words::*member;
};
constexpr Field kFields[] = {
    {"jobid", &Words::id},
    {"jobidraw", &Words::raw},
    {"jobname", &Words::name},
    {"user", &Words::user},
    {"account", &Words::account},
    {"partition", &Words::partition},
    {"state", &Words::state},
    {"submit", &Words::submit},
    {"start", &Words::start},
    {"end", &Words::end},
    {"elapsedraw", &Words::elapsed_raw},
    {"elapsed", &Words::elapsed},
    {"nnodes", &Words::nodes},
    {"allocnodes", &Words::nodes},
    {"nodelist", &Words::node_list},
    {"alloctres", &Words::alloc_tres},
    {"reqtres", &Words::req_tres},
    {"allocgres", &Words::alloc_gres},
    {"reqgres", &Words::req_gres},
    {"submitline", &Words::script},
};

// Written by people, so that a delimiter may stand in them: sacct does not escape it.
bool is_free_text(std::string_view lower_name) {
  constexpr std::string_view kNames[] = {"jobname", "comment",       "admincomment", "submitline",
                                         "workdir", "systemcomment", "constraints",  "wckey"};
  return std::find(std::begin(kNames), std::end(kNames), lower_name) != std::end(kNames);
}

bool is_word(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

std::string_view first_word(std::string_view line) {
  std::size_t size = 0;
  while (size < line.size() && is_word(line[size])) ++size;
  return line.substr(0, size);
}

// What stands between the first two names of a header.
std::string_view delimiter_of(std::string_view header) {
  const std::string_view rest = header.substr(first_word(header).size());
  std::size_t size = 0;
  while (size < rest.size() && !is_word(rest[size])) ++size;
  return rest.substr(0, size);
}

void split_into(std::string_view line, std::string_view at, std::vector<std::string_view>& cells) {
  cells.clear();
  for (;;) {
    const std::size_t next = line.find(at);
    cells.push_back(line.substr(0, next));
    if (next == line.npos) return;
    line.remove_prefix(next + at.size());
  }
}

// "JobName%40" of an -o list is JobName.
std::string_view without_width(std::string_view field) {
  return trim(field.substr(0, field.find('%')));
}

constexpr std::string_view kAgain =
    "run: sacct -a -D -P -o JobID,JobIDRaw,JobName,User,Account,Partition,State,Submit,Start,End,"
    "ElapsedRaw,NNodes,NodeList,ReqTRES,AllocTRES";

}  // namespace

bool is_table_header(std::string_view line) {
  const std::string_view delimiter = delimiter_of(line);
  if (delimiter.empty() || delimiter.find_first_not_of(' ') == delimiter.npos) return false;
  std::vector<std::string_view> names;
  split_into(line, delimiter, names);
  bool id = false;
  int known = 0;
  for (const std::string_view name : names) {
    const std::string word = lower(name);
    id = id || word == "jobid" || word == "jobidraw";
    for (const Field& field : kFields) known += field.name == word ? 1 : 0;
  }
  return id && known >= 3;
}

bool is_surely_table_header(std::string_view line) {
  if (!is_table_header(line)) return false;
  const std::string small = lower(line);
  for (const std::string_view name : {"alloctres", "allocgres", "reqtres", "reqgres"}) {
    if (small.find(name) != small.npos) return true;
  }
  // As sacct spells it and parts it, but without what is needed: its reader says what to ask for.
  return delimiter_of(line) == "|" && line.find("JobID") != line.npos &&
         small.find("gpu") == small.npos;
}

std::string explain_header(std::string_view line) {
  const std::string_view delimiter = delimiter_of(line);
  std::vector<std::string_view> names;
  split_into(line, delimiter, names);
  std::vector<std::string> used;
  std::vector<std::string> unused;
  for (const std::string_view name : names) {
    const std::string word = lower(without_width(name));
    const bool known = std::ranges::find(kFields, word, &Field::name) != std::end(kFields);
    if (!word.empty()) (known ? used : unused).emplace_back(name);
  }
  std::string text = fmt::format("a table of sacct between '{}': {}", delimiter, join(used, ", "));
  if (!unused.empty()) text += fmt::format("\nnot used: {}", clip(join(unused, ", "), 400));
  return text;
}

bool is_fixed_width_header(std::string_view line) {
  std::string_view rest = trim(line);
  if (first_word(rest) != "JobID" || delimiter_of(rest).find_first_not_of(' ') != rest.npos) {
    return false;
  }
  return rest.find("State") != rest.npos || rest.find("JobName") != rest.npos;
}

Table::Table(Intake& intake, Jobs& jobs, std::string_view fields)
    : intake_{intake}, jobs_{jobs}, fields_{fields} {}

Result<> Table::columns_from(const std::vector<std::string_view>& names) {
  columns_.clear();
  free_text_ = -1;
  int free_texts = 0;
  bool seen[std::size(kFields)] = {};
  for (const std::string_view name : names) {
    const std::string word = lower(without_width(name));
    if (is_free_text(word)) {
      free_text_ = static_cast<int>(columns_.size());
      ++free_texts;
    }
    Member member = nullptr;
    for (std::size_t i = 0; i < std::size(kFields); ++i) {
      if (kFields[i].name != word) continue;
      member = kFields[i].member;
      seen[i] = true;
    }
    columns_.push_back(member);
  }
  if (free_texts != 1) free_text_ = -1;
  const auto has = [&](std::string_view name) {
    for (std::size_t i = 0; i < std::size(kFields); ++i) {
      if (kFields[i].name == name) return seen[i];
    }
    return false;
  };
  const auto missing = [](std::string_view what) {
    return bad_input(fmt::format("has no column {}; {}", what, kAgain));
  };
  if (!has("jobid") && !has("jobidraw")) return missing("JobID");
  if (!has("start")) return missing("Start");
  if (!has("end") && !has("elapsedraw") && !has("elapsed")) return missing("End or ElapsedRaw");
  if (!has("alloctres") && !has("allocgres")) return missing("AllocTRES");
  return Ok{};
}

Result<> Table::header(std::string_view line) {
  header_ = line;
  delimiter_ = delimiter_of(line);
  std::vector<std::string_view> names;
  split_into(line, delimiter_, names);
  if (names.back().empty()) names.pop_back();  // -p ends lines with a delimiter.
  return columns_from(names);
}

// Without a header: the delimiter that makes as many cells as fields were asked for.
Result<> Table::find_delimiter(std::string_view line) {
  const auto names = split(fields_, ',');
  TRY(columns_from(names).in("--fields"));
  for (const std::string_view candidate : {"|", "\x1f", "\t", ";", ",", "^", "~", "@", "#"}) {
    split_into(line, candidate, cells_);
    const bool closed = cells_.size() == names.size() + 1 && cells_.back().empty();
    if (cells_.size() != names.size() && !closed) continue;
    delimiter_ = candidate;
    return Ok{};
  }
  split_into(line, "|", cells_);
  return bad_input(fmt::format("--fields names {} fields, but the first line has {} cells: {}",
                               names.size(), cells_.size(), clip(line, 80)));
}

// A delimiter inside the one column of free text: the cells in excess belong to it.
bool Table::join_free_text() {
  if (free_text_ < 0 || cells_.size() <= columns_.size()) return false;
  const std::size_t excess = cells_.size() - columns_.size();
  const auto first = cells_.begin() + free_text_;
  const std::string_view last = *(first + static_cast<std::ptrdiff_t>(excess));
  const std::string_view whole(first->data(),
                               static_cast<std::size_t>(last.data() + last.size() - first->data()));
  cells_.erase(first, first + static_cast<std::ptrdiff_t>(excess));
  cells_[static_cast<std::size_t>(free_text_)] = whole;
  return true;
}

void Table::record(std::string_view line, Where where) {
  split_into(line, delimiter_, cells_);
  if (cells_.size() == columns_.size() + 1 && cells_.back().empty()) cells_.pop_back();
  if (cells_.size() != columns_.size() && !join_free_text()) {
    intake_.trouble(
        model::Trouble::kBadLine, where,
        fmt::format("has {} cells, but there are {} columns", cells_.size(), columns_.size()));
    return;
  }
  Words words;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i] != nullptr && !cells_[i].empty()) words.*columns_[i] = cells_[i];
  }
  jobs_.take(words, where);
}

Result<> Table::line(std::string_view line, Where where) {
  if (trim(line).empty()) return Ok{};
  if (columns_.empty()) {
    if (is_table_header(line)) return header(line);
    if (is_fixed_width_header(line)) {
      return bad_input(
          fmt::format("is sacct's table for people, which cuts long cells; {}", kAgain));
    }
    if (fields_.empty()) {
      return bad_input(
          "the first line is not a header; give the -o list that sacct was run with: "
          "--fields JobID,State,...");
    }
    TRY(find_delimiter(line));
  }
  if (line == header_) return Ok{};  // Files joined one behind the other.
  record(line, where);
  return Ok{};
}

}  // namespace amdahl::fleet::slurm
