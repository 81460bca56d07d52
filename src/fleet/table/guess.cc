#include "fleet/table/guess.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/table/guess_samples.h"
#include "fleet/table/mapping_builder.h"
#include "fleet/table/synonyms.h"
#include "fleet/times.h"

namespace amdahl::fleet::table {
namespace {

bool is_text(const Column& column) { return column.filled == 0 || !column.is_number(); }
bool is_duration(const Column& column) { return column.filled == 0 || column.is_duration(); }
bool is_count(const Column& column) {
  return may_be_number(column) && column.least >= 0 && column.most <= 1e6;
}
bool is_devices(const Column& column) {
  return is_count(column) || (column.devices > 0 && column.devices * 5 >= column.filled * 4);
}
// "timestamp" may be when a job began, if nothing else is.
bool is_plain_time(const Column& column) {
  return column.plain == "timestamp" || column.plain == "time" || column.plain == "date";
}

// A table of jobs says when each began and how long it ran.
bool tells_of_jobs(const MappingBuilder& builder) {
  const bool span =
      builder.find(Field::kEnd, may_be_time) || builder.find(Field::kElapsed, is_duration);
  const bool begin = builder.find(Field::kSubmit, may_be_time) ||
                     builder.find(Field::kStart, [](const Column& column) {
                       return may_be_time(column) && !is_plain_time(column);
                     });
  if (span && begin) return true;
  return span && builder.find(Field::kAccelerators, is_devices) &&
         builder.find(Field::kStart, may_be_time);
}

// "n1/0*8+n2/0*8" of PBS, "n1:2;n2:2", "n1 n2".
std::string hosts_form(const MappingBuilder& builder, const Column& column) {
  std::string_view text = column.example;
  for (const std::vector<std::string>& row : builder.rows()) {  // The longest has most of it.
    const std::string& cell = row[builder.index_of(column)];
    if (cell.size() > text.size()) text = cell;
  }
  const auto has = [&](char c) { return text.find(c) != text.npos; };
  if (text.starts_with('[')) return "";
  if (has('/')) return "separator = \"+\", cut = \"/\"";
  std::string form;
  if (has(';')) form = "separator = \";\"";
  if (form.empty() && has(' ') && !has(',')) form = "separator = \" \"";
  if (form.empty() && has('+')) form = "separator = \"+\"";
  const std::size_t colon = text.find(':');
  const std::size_t digits =
      colon == text.npos ? 0 : text.find_first_not_of("0123456789", colon + 1);
  const bool counted = colon != text.npos && digits != colon + 1 && colon + 1 < text.size() &&
                       (digits == text.npos || text[digits] == ';' || text[digits] == ' ') &&
                       std::ranges::count(text, ':') <= 1 + std::ranges::count(text, ';');
  if (colon != text.npos && !counted && form.empty()) return "separator = \":\"";
  if (counted) form += form.empty() ? "cut = \":\"" : ", cut = \":\"";
  return form;
}

// Slurm's database has states as numbers.
constexpr std::string_view kSlurmStates =
    "words = { 0 = \"PENDING\", 1 = \"RUNNING\", 2 = \"SUSPENDED\", 3 = \"COMPLETED\", "
    "4 = \"CANCELLED\", 5 = \"FAILED\", 6 = \"TIMEOUT\", 7 = \"NODE_FAIL\", 8 = \"PREEMPTED\", "
    "9 = \"BOOT_FAIL\", 10 = \"DEADLINE\", 11 = \"OUT_OF_MEMORY\" }";

// And so has HTCondor.
constexpr std::string_view kCondorStates =
    "words = { 1 = \"PENDING\", 2 = \"RUNNING\", 3 = \"CANCELLED\", 4 = \"COMPLETED\", "
    "5 = \"PENDING\", 6 = \"RUNNING\", 7 = \"RUNNING\" }";

// Of each instance of a job the count is said, not of all.
bool counts_instances(const Column& column) {
  for (const std::string_view name :
       {"instnum", "workernum", "numworkers", "workers", "replicas"}) {
    if (column.plain == name) return true;
  }
  return false;
}

class JobGuess {
 public:
  explicit JobGuess(MappingBuilder& builder) : builder_{builder} {}

  void run() {
    accelerators_ = builder_.find(Field::kAccelerators, is_devices);
    if (accelerators_ != nullptr) builder_.use(*accelerators_);
    id();
    times();
    state();
    builder_.take(Field::kUser);
    builder_.take(Field::kAccount);
    builder_.take(Field::kPartition, is_text);
    builder_.take(Field::kKind, is_text);
    builder_.take(Field::kName, is_text);
    builder_.take(Field::kScript, is_text);
    hosts();
    count();
    utilisation();
  }

 private:
  void id() {
    id_ = builder_.find(Field::kId);
    const Column* process = nullptr;  // HTCondor's jobs have two numbers.
    for (const Column& column : builder_.columns()) {
      if (id_ != nullptr && id_->plain == "clusterid" && column.plain == "procid") {
        process = &column;
      }
    }
    if (process != nullptr) {
      is_condor_ = true;
      builder_.use(*process);
      builder_.give(Field::kId, *id_, fmt::format("and = {}", toml_quoted(process->name)));
    } else if (const Column* cluster = cluster_of_ids(); cluster != nullptr) {
      builder_.give(Field::kId, *id_, fmt::format("and = {}", toml_quoted(cluster->name)),
                    "clusters number their jobs on their own");
    } else if (id_ != nullptr) {
      builder_.give(Field::kId, *id_);
    } else {
      builder_.line("id", "{ from = \"line\" }", "no column has one, so file and line are it");
    }
    builder_.take(Field::kRaw);
  }

  // The column with the cluster of each id, if there are several clusters.
  const Column* cluster_of_ids() const {
    if (id_ == nullptr) return nullptr;
    for (const Column& column : builder_.columns()) {
      const bool names = column.plain == "cluster" || column.plain == "clustername";
      if (names && !column.is_number() && builder_.differs(column)) return &column;
    }
    return nullptr;
  }

  void times() {
    const Column* submit = builder_.find(Field::kSubmit, may_be_time);
    const Column* start = builder_.find(Field::kStart, may_be_time);
    if (start == nullptr && submit != nullptr && submit->unclear.empty()) {
      builder_.give_time(Field::kStart, *submit,
                         "no column for the start of jobs: assumed to start when submitted");
    } else {
      builder_.take_time(Field::kSubmit);
      if (builder_.take_time(Field::kStart) == nullptr) builder_.miss("start", "when a job began");
    }
    const Column* end = builder_.take_time(Field::kEnd);
    const Column* elapsed = builder_.find(Field::kElapsed, is_duration);
    if (end != nullptr) {
      // Elapsed times may count the queue too.
      if (start != nullptr && elapsed != nullptr && is_between(*elapsed, *start, *end)) {
        builder_.give(Field::kElapsed, *elapsed, "", "the seconds from start to end");
      }
      return;
    }
    if (elapsed == nullptr)
      return builder_.miss("end", "when it ended; or elapsed, how long it ran");
    const std::string_view unit = duration_unit(*elapsed);
    if (!unit.empty()) {
      builder_.give(Field::kElapsed, *elapsed, fmt::format("unit = \"{}\"", unit));
    } else {
      builder_.give(Field::kElapsed, *elapsed, "",
                    elapsed->is_number() ? "in seconds, as no unit is named" : "");
    }
  }

  // Whether a column has the seconds from start to end, in rows that have all three: then it says
  // when those began that have no start.
  bool is_between(const Column& elapsed, const Column& start, const Column& end) const {
    const auto from = time_format(start.time);
    const auto to = time_format(end.time);
    if (!from || !to) return false;
    std::size_t known = 0;
    std::size_t same = 0;
    for (const std::vector<std::string>& row : builder_.rows()) {
      const Instant began = from->read(row[builder_.index_of(start)], Zone());
      const Instant ended = to->read(row[builder_.index_of(end)], Zone());
      Nanos ran{};
      if (!began.known() || !ended.known()) continue;
      if (!read_duration(row[builder_.index_of(elapsed)], ran)) continue;
      ++known;
      same += ended.at - began.at == ran ? 1 : 0;
    }
    return same > 0 && same * 5 >= known * 4;
  }

  void state() {
    const Column* state = builder_.find(Field::kState);
    if (state == nullptr) return;
    if (!state->is_number()) return builder_.give(Field::kState, *state);
    if (is_condor_)
      return builder_.give(Field::kState, *state, kCondorStates, "as HTCondor has them");
    if (state->is_whole() && state->most <= 11) {
      builder_.give(Field::kState, *state, kSlurmStates, "numbers, as in Slurm's database");
    }
  }

  void hosts() {
    if (const Column* hosts = builder_.find(Field::kHosts, is_text)) {
      builder_.give(Field::kHosts, *hosts, hosts_form(builder_, *hosts));
      has_hosts_ = true;
    }
    host_count_ = builder_.take(Field::kHostCount, is_count);
  }

  // "0,1" and "3": the numbers of a job's accelerators, not how many.
  const Column* list_of_devices() const {
    return builder_.find(Field::kAccelerators, [&](const Column& column) {
      std::size_t lists = 0;
      for (const std::vector<std::string>& row : builder_.rows()) {
        const std::string& cell = row[builder_.index_of(column)];
        if (cell.find_first_not_of("0123456789,; []") != cell.npos) return false;
        lists += cell.find_first_of(",;") != cell.npos ? 1 : 0;
      }
      return lists > 0;
    });
  }

  void count() {
    if (accelerators_ == nullptr) {
      const Column* index = builder_.find(Field::kAccelerator, is_count);
      if (index == nullptr) index = list_of_devices();
      if (index != nullptr && has_hosts_) {
        return builder_.give(Field::kAccelerator, *index, "",
                             "each line is one accelerator of its job");
      }
      return builder_.miss("accelerators", "how many accelerators it held");
    }
    const Column& column = *accelerators_;
    if (is_index(column)) {
      return builder_.give(Field::kAccelerator, column, "",
                           "the number of one; each line is one accelerator of its job");
    }
    std::string more;
    std::string why;
    if (column.plain == "plangpu") {
      more = "scale = 0.01";
      why = "in percent of an accelerator";
    }
    const bool each = column.plain == "gpuspernode" || column.plain == "gpupernode" ||
                      (host_count_ != nullptr && counts_instances(*host_count_));
    if ((each || column.plain == "plangpu") && host_count_ != nullptr) {
      more += fmt::format("{}times = {}", more.empty() ? "" : ", ", toml_quoted(host_count_->name));
      why += why.empty() ? "for each of its hosts" : ", for each instance";
    }
    if (!column.is_number() && column.filled > 0) why = "as Slurm writes resources";
    builder_.give(Field::kAccelerators, column, more, why);
  }

  // Whether "gpu" is the number of an accelerator, not how many: a job has several, or all are 0.
  bool is_index(const Column& column) const {
    if (column.plain != "gpu" || id_ == nullptr || !has_hosts_) return false;
    return builder_.repeats(*id_, column) ||
           (column.filled > 0 && column.is_number() && column.most <= 0);
  }

  void utilisation() {
    const Column* used = builder_.find(Field::kUtilisation, may_be_number);
    if (used == nullptr || used->filled == 0) return;
    const Share share = share_of(*used, "");
    if (share.unit.empty()) {
      return builder_.note(fmt::format("{} is not used: {}", toml_quoted(used->name), share.why));
    }
    if (!share.is_sure) builder_.judge_unit_by_values();
    builder_.give(Field::kUtilisation, *used, fmt::format("unit = \"{}\"", share.unit), share.why);
  }

  MappingBuilder& builder_;
  const Column* id_ = nullptr;
  const Column* accelerators_ = nullptr;
  const Column* host_count_ = nullptr;
  bool is_condor_ = false;
  bool has_hosts_ = false;
};

bool tells_of_places(const MappingBuilder& builder) {
  return builder.find(Field::kJob) && builder.find(Field::kHost) &&
         builder.find(Field::kAccelerator) &&
         !builder.find(Field::kTime, [](const Column& c) { return c.is_time() && !c.from_zero; });
}

bool tells_of_capacity(const MappingBuilder& builder) {
  return builder.find(Field::kHost) && builder.find(Field::kAccelerators, is_count) &&
         !builder.find(Field::kTime) && !builder.find(Field::kStart) && !builder.find(Field::kJob);
}

void guess_place(MappingBuilder& builder) {
  builder.take(Field::kJob);
  builder.take(Field::kHost);
  builder.take(Field::kAccelerator);
}

void guess_capacity(MappingBuilder& builder) {
  builder.take(Field::kHost);
  builder.take(Field::kAccelerators, is_count);
  builder.take(Field::kKind, is_text);
  builder.take(Field::kPartition, is_text);
}

}  // namespace

Guess guess(const Head& head, std::string_view path, std::string_view host) {
  MappingBuilder builder(head);
  if (tells_of_jobs(builder) && !is_long_by_metric(builder)) {
    JobGuess(builder).run();
    return std::move(builder).finish(Row::kJob);
  }
  if (head.has_header && tells_of_samples(builder)) {
    guess_samples(builder, path, host);
    return std::move(builder).finish(Row::kSample);
  }
  if (tells_of_places(builder)) {
    guess_place(builder);
    return std::move(builder).finish(Row::kPlace);
  }
  if (tells_of_capacity(builder)) {
    guess_capacity(builder);
    return std::move(builder).finish(Row::kCapacity);
  }
  if (!head.has_header && has_one_time(builder)) {
    guess_unnamed_samples(builder, path, host);
    return std::move(builder).finish(Row::kSample);
  }
  // Neither: propose what it is nearer to.
  const bool timed = builder.find(Field::kTime, may_be_time) != nullptr;
  const bool valued = has_one_time(builder) && builder.find(Field::kValue, may_be_number);
  if ((timed && !builder.find(Field::kAccelerators, is_devices)) || has_usage(builder) || valued) {
    guess_samples(builder, path, host);
    return std::move(builder).finish(Row::kSample);
  }
  JobGuess(builder).run();
  return std::move(builder).finish(Row::kJob);
}

std::string explain(const Guess& guess, const Head& head) {
  constexpr std::string_view kWhat[] = {"jobs", "samples", "who had which accelerator",
                                        "what hosts have", "occupancy"};
  const std::string_view delimiter = head.delimiter == '\t'  ? "tabs"
                                     : head.delimiter == ' ' ? "blanks"
                                                             : std::string_view(&head.delimiter, 1);
  std::string text = fmt::format(
      "a table of {}, known by its {} columns (between {}) and its first {} lines\n",
      kWhat[static_cast<std::size_t>(guess.row)], head.header.size(), delimiter, head.rows.size());
  for (const std::string& note : guess.notes) text += fmt::format("  {}\n", note);
  if (!guess.unused.empty()) {
    text += fmt::format("  not used: {}\n", clip(join(guess.unused, ", "), 400));
  }
  text += "  to change this, pass a mapping: --map FILE (docs/format/csv-mapping.md)";
  return text;
}

std::string propose(const Guess& guess) {
  return fmt::format(
      "is a table without required columns ({})\n"
      "Complete this mapping, save it as FILE.toml, and add: --map FILE.toml "
      "(docs/format/csv-mapping.md)\n\n{}",
      join(guess.missing, "; "), guess.toml);
}

}  // namespace amdahl::fleet::table
