#include "fleet/slurm/table.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::fleet::slurm {
namespace {

struct Field {
  std::string_view name;  // Lower case.
  std::string_view JobFields::*member;
};
constexpr Field kFields[] = {
    {"jobid", &JobFields::id},
    {"jobidraw", &JobFields::raw},
    {"cluster", &JobFields::cluster},
    {"jobname", &JobFields::name},
    {"user", &JobFields::user},
    {"account", &JobFields::account},
    {"partition", &JobFields::partition},
    {"state", &JobFields::state},
    {"submit", &JobFields::submit},
    {"start", &JobFields::start},
    {"end", &JobFields::end},
    {"elapsedraw", &JobFields::elapsed_raw},
    {"elapsed", &JobFields::elapsed},
    {"timelimitraw", &JobFields::limit_raw},
    {"timelimit", &JobFields::limit},
    {"nnodes", &JobFields::nodes},
    {"allocnodes", &JobFields::nodes},
    {"nodelist", &JobFields::node_list},
    {"alloctres", &JobFields::alloc_tres},
    {"reqtres", &JobFields::req_tres},
    {"allocgres", &JobFields::alloc_gres},
    {"reqgres", &JobFields::req_gres},
    {"submitline", &JobFields::script},
    {"exitcode", &JobFields::exit_code},
    {"admincomment", &JobFields::admin_comment},
};

// Written by people, so that a delimiter may stand in them: sacct does not escape it. The least
// number is the likeliest; 0: another column.
int free_text(std::string_view lower_name) {
  struct Likely {
    std::string_view name;
    int rank;
  };
  constexpr Likely kNames[] = {
      {"submitline", 1}, {"comment", 2}, {"admincomment", 2}, {"systemcomment", 2}, {"jobname", 2},
      {"extra", 3},      {"workdir", 4}, {"container", 4},    {"stdin", 4},         {"stdout", 4},
      {"stderr", 4},     {"reason", 4},  {"constraints", 4},  {"wckey", 4}};
  const auto* const found = std::ranges::find(kNames, lower_name, &Likely::name);
  return found == std::end(kNames) ? 0 : found->rank;
}

// What only people write.
bool is_prose(std::string_view cell) { return cell.find_first_of(" '\"") != cell.npos; }

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

// Tables that went through a spreadsheet or a script have quotes; sacct writes none. What is within
// quotes stays as it is.
void split_quoted(std::string_view line, char at, std::vector<std::string_view>& cells) {
  cells.clear();
  for (;;) {
    std::size_t end = line.find(at);
    std::string_view cell = line.substr(0, end);
    if (line.starts_with('"')) {
      std::size_t close = line.find('"', 1);
      while (close != line.npos && close + 1 < line.size() && line[close + 1] == '"') {
        close = line.find('"', close + 2);
      }
      if (close != line.npos) {
        cell = line.substr(1, close - 1);
        end = line.find(at, close);
      }
    }
    cells.push_back(cell);
    if (end == line.npos) return;
    line.remove_prefix(end + 1);
  }
}

bool may_be_quoted(std::string_view delimiter) {
  return delimiter.size() == 1 &&
         std::string_view(",;\t").find(delimiter[0]) != std::string_view::npos;
}

std::string without_quotes(std::string_view header) {
  std::string text(header);
  std::erase(text, '"');
  return text;
}

// "JobName%40" of an -o list is JobName.
std::string_view without_width(std::string_view field) {
  return trim(field.substr(0, field.find('%')));
}

constexpr std::size_t kMostExcess = 512;                      // Delimiters in free text.
constexpr std::size_t kLongestRecord = std::size_t{1} << 20;  // Of several lines.

bool has_only(std::string_view text, std::string_view more) {
  return std::ranges::all_of(text,
                             [&](char c) { return is_digit(c) || more.find(c) != more.npos; });
}

constexpr std::string_view kAgain =
    "run: sacct -a -D -P -o JobID,JobIDRaw,JobName,User,Account,Partition,State,ExitCode,Submit,"
    "Start,End,ElapsedRaw,TimelimitRaw,NNodes,NodeList,ReqTRES,AllocTRES";

}  // namespace

bool is_table_header(std::string_view given) {
  const std::string unquoted = without_quotes(given);
  const std::string_view line = unquoted;
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

bool is_surely_table_header(std::string_view given) {
  const std::string line = without_quotes(given);
  if (!is_table_header(line)) return false;
  const std::string small = lower(line);
  for (const std::string_view name : {"alloctres", "allocgres", "reqtres", "reqgres"}) {
    if (small.find(name) != small.npos) return true;
  }
  // As sacct spells it and parts it, but without what is needed: its reader says what to ask for.
  return delimiter_of(line) == "|" && line.find("JobID") != line.npos &&
         small.find("gpu") == small.npos;
}

std::string explain_header(std::string_view given) {
  const std::string line = without_quotes(given);
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

std::string_view how_to_ask_sacct() { return kAgain; }

Table::Table(Intake& intake, Jobs& jobs, std::string_view fields, bool lines_stay)
    : intake_{intake}, jobs_{jobs}, fields_{fields}, lines_stay_{lines_stay} {}

Result<> Table::columns_from(const std::vector<std::string_view>& names) {
  columns_.clear();
  free_.clear();
  bool seen[std::size(kFields)] = {};
  for (const std::string_view name : names) {
    const std::string word = lower(without_width(name));
    free_.push_back(free_text(word));
    Member member = nullptr;
    for (std::size_t i = 0; i < std::size(kFields); ++i) {
      if (kFields[i].name != word) continue;
      member = kFields[i].member;
      seen[i] = true;
    }
    columns_.push_back(member);
  }
  free_lists();
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

// Between commas (--delimiter=,) the one list of resources holds some, too. Of two nobody knows
// where the first ends.
void Table::free_lists() {
  if (delimiter_ != ",") return;
  const auto is_list = [](Member member) {
    return member == &JobFields::alloc_tres || member == &JobFields::req_tres;
  };
  if (std::ranges::count_if(columns_, is_list) != 1) return;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (is_list(columns_[i]) || columns_[i] == &JobFields::node_list) free_[i] = 1;
  }
}

Result<> Table::header(std::string_view line) {
  header_ = line;
  const std::string unquoted = without_quotes(line);
  delimiter_ = delimiter_of(unquoted);
  std::vector<std::string_view> names;
  split_into(unquoted, delimiter_, names);
  is_closed_ = names.back().empty();
  if (is_closed_) names.pop_back();
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
    is_closed_ = closed;
    return Ok{};
  }
  split_into(line, "|", cells_);
  return bad_input(fmt::format("--fields names {} fields, but the first line has {} cells: {}",
                               names.size(), cells_.size(), clip(line, 80)));
}

// Whether a cell may stand in a column that is read.
bool Table::may_be(std::size_t column, std::string_view cell) const {
  const Member member = columns_[column];
  if (member == &JobFields::id || member == &JobFields::raw)
    return !cell.empty() && is_digit(cell[0]);
  if (cell.empty() || member == nullptr) return true;
  if (member == &JobFields::state) {
    return is_word(cell[0]) && cell.find_first_of("|=:/") == cell.npos;
  }
  if (member == &JobFields::submit || member == &JobFields::start || member == &JobFields::end) {
    return cell == "Unknown" || cell == "None" || (is_digit(cell[0]) && has_only(cell, "-T:.+Z "));
  }
  if (member == &JobFields::elapsed) return has_only(cell, "-:.");
  if (member == &JobFields::elapsed_raw || member == &JobFields::nodes)
    return has_only(cell, "-K.");
  if (member == &JobFields::user || member == &JobFields::account ||
      member == &JobFields::partition) {
    return !is_prose(cell);
  }
  if (member == &JobFields::alloc_tres || member == &JobFields::req_tres) {
    return cell.find('=') != cell.npos;
  }
  return true;
}

bool Table::fits() const {
  if (cells_.size() != columns_.size()) return false;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (!may_be(i, cells_[i])) return false;
  }
  return true;
}

// How many cells each column takes so that all of them may be what their columns say: those of
// free text may have some in excess.
bool Table::choose_widths(std::vector<std::size_t>& widths) const {
  const std::size_t excess = cells_.size() - columns_.size();
  if (excess > kMostExcess) return false;
  constexpr int kNoWay = 1'000'000;
  constexpr int kProse = 10;
  struct Way {
    int cost = kNoWay;
    std::size_t width = 0;  // Of the column before.
  };
  // By column and excess used before it.
  std::vector<std::vector<Way>> ways(columns_.size() + 1, std::vector<Way>(excess + 1));
  ways[0][0].cost = 0;
  const auto offer = [](Way& way, int cost, std::size_t width) {
    if (cost < way.cost) way = {cost, width};
  };
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    for (std::size_t used = 0; used <= excess; ++used) {
      const int cost = ways[column][used].cost;
      if (cost == kNoWay) continue;
      const std::string_view cell = cells_[column + used];
      const bool is_odd = columns_[column] == nullptr && free_[column] == 0 && is_prose(cell);
      if (may_be(column, cell)) offer(ways[column + 1][used], cost + (is_odd ? kProse : 0), 1);
      if (free_[column] == 0) continue;
      for (std::size_t more = 1; used + more <= excess; ++more) {
        offer(ways[column + 1][used + more], cost + free_[column], more + 1);
      }
    }
  }
  if (ways[columns_.size()][excess].cost == kNoWay) return false;
  widths.assign(columns_.size(), 1);
  std::size_t used = excess;
  for (std::size_t column = columns_.size(); column > 0; --column) {
    widths[column - 1] = ways[column][used].width;
    used -= widths[column - 1] - 1;
  }
  return true;
}

// Delimiters inside columns of free text: the cells in excess belong to them.
bool Table::join_free_text() {
  if (cells_.size() <= columns_.size()) return false;
  std::vector<std::size_t> widths;
  if (!choose_widths(widths)) {
    const auto is_free = [](int rank) { return rank > 0; };
    if (std::ranges::count_if(free_, is_free) != 1) return false;
    widths.assign(columns_.size(), 1);
    const auto free = std::ranges::find_if(free_, is_free) - free_.begin();
    widths[static_cast<std::size_t>(free)] += cells_.size() - columns_.size();
  }
  std::size_t from = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string_view first = cells_[from];
    const std::string_view last = cells_[from + widths[i] - 1];
    const auto size = static_cast<std::size_t>(last.data() + last.size() - first.data());
    cells_[i] = {first.data(), size};
    from += widths[i];
  }
  cells_.resize(columns_.size());
  return true;
}

void Table::cut(std::string_view line) {
  if (may_be_quoted(delimiter_) && line.find('"') != line.npos) {
    split_quoted(line, delimiter_[0], cells_);
  } else {
    split_into(line, delimiter_, cells_);
  }
  if (is_closed_ && cells_.size() > columns_.size() && cells_.back().empty()) cells_.pop_back();
}

void Table::tell(Where where) {
  JobFields words;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i] != nullptr && !cells_[i].empty()) words.*columns_[i] = cells_[i];
  }
  jobs_.take(words, where);
}

void Table::give_up(std::string_view line, Where where) {
  cut(line);
  // The rest of a text that ends its record is no record.
  bool has_id = false;
  for (std::size_t i = 0; i < std::min(cells_.size(), columns_.size()); ++i) {
    const bool is_id = columns_[i] == &JobFields::id || columns_[i] == &JobFields::raw;
    has_id = has_id || (is_id && may_be(i, cells_[i]));
  }
  if (free_.back() > 0 && !has_id) return intake_.troubles(model::Trouble::kRepaired, 1);
  intake_.trouble(model::Trouble::kBadLine, where,
                  fmt::format("has {} cells, expected {}", cells_.size(), columns_.size()));
}

void Table::wait(std::string_view line, Where where) {
  waits_at_ = where;
  if (!lines_stay_) kept_ = line;
  waiting_ = lines_stay_ ? line : std::string_view(kept_);
}

void Table::record(std::string_view line, Where where) {
  cut(line);
  if (!waiting_.empty()) return next_line(line, where);
  if (cells_.size() == columns_.size()) [[likely]] {
    return tell(where);
  }
  first_line(line, where);
}

void Table::first_line(std::string_view line, Where where) {
  const bool has_free = std::ranges::any_of(free_, [](int rank) { return rank > 0; });
  if (cells_.size() < columns_.size()) {
    return has_free ? wait(line, where) : give_up(line, where);
  }
  if (cells_.size() == columns_.size() + 1 && cells_.back().empty()) {
    const std::string_view last = cells_.back();
    cells_.pop_back();  // As of -p, whatever the header has.
    const auto user = std::ranges::find(columns_, Member(&JobFields::user)) - columns_.begin();
    const auto at = static_cast<std::size_t>(user);
    const bool has_user = at == columns_.size() || !cells_[at].empty();  // A job always has.
    if (!has_free || (fits() && has_user)) return tell(where);
    cells_.push_back(last);
  }
  if (!join_free_text()) return give_up(line, where);
  intake_.troubles(model::Trouble::kRepaired, 1);
  tell(where);
}

// A record that began on a line before, or another.
void Table::next_line(std::string_view line, Where where) {
  const std::string_view begun = std::exchange(waiting_, {});
  const Where at = waits_at_;
  if (fits()) {
    give_up(begun, at);
    cut(line);
    return tell(where);
  }
  std::string_view whole;
  if (lines_stay_) {
    whole = {begun.data(), static_cast<std::size_t>(line.data() + line.size() - begun.data())};
  } else {
    kept_ += '\n';
    kept_ += line;
    whole = kept_;
  }
  cut(whole);
  std::vector<std::size_t> widths;
  const bool is_one = cells_.size() > columns_.size() && choose_widths(widths);
  if (fits() || (is_one && join_free_text())) {
    intake_.troubles(model::Trouble::kRepaired, 1);
    return tell(at);
  }
  cut(line);
  const bool is_next = cells_.size() > columns_.size() && choose_widths(widths);
  if (!is_next && whole.size() < kLongestRecord) {
    waiting_ = whole;
    return;
  }
  give_up(whole.substr(0, begun.size()), at);
  cut(line);
  if (cells_.size() == columns_.size()) return tell(where);
  first_line(line, where);
}

void Table::finish() {
  if (!waiting_.empty()) give_up(std::exchange(waiting_, {}), waits_at_);
}

Result<> Table::line(std::string_view line, Where where) {
  if (trim(line).empty()) {
    if (waiting_.empty() || lines_stay_) return Ok{};
    kept_ += '\n';
    kept_ += line;
    waiting_ = kept_;
    return Ok{};
  }
  if (columns_.empty()) {
    if (is_table_header(line)) return header(line);
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
