#include "fleet/sge/sge.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/line_reader.h"

namespace amdahl::fleet::sge {
namespace {

using model::JobState;
using model::Trouble;

// One record, under the names that qacct gives its fields.
using Fields = std::map<std::string, std::string, std::less<>>;

// The order of the accounting file; man 5 accounting. What follows is not used.
constexpr auto kColumns = std::to_array<std::string_view>(
    {"qname",       "hostname",     "group",      "owner",      "jobname",     "jobnumber",
     "account",     "priority",     "qsub_time",  "start_time", "end_time",    "failed",
     "exit_status", "ru_wallclock", "ru_utime",   "ru_stime",   "ru_maxrss",   "ru_ixrss",
     "ru_ismrss",   "ru_idrss",     "ru_isrss",   "ru_minflt",  "ru_majflt",   "ru_nswap",
     "ru_inblock",  "ru_oublock",   "ru_msgsnd",  "ru_msgrcv",  "ru_nsignals", "ru_nvcsw",
     "ru_nivcsw",   "project",      "department", "granted_pe", "slots",       "taskid",
     "cpu",         "mem",          "io",         "category",   "iow",         "pe_taskid"});

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

// Of the reporting file, "1700000000:acct:" stands before what the accounting file has.
std::string_view without_report_head(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos || !is_number(line.substr(0, colon))) return line;
  const std::string_view rest = line.substr(colon + 1);
  constexpr std::string_view kAccounting = "acct:";
  return rest.starts_with(kAccounting) ? rest.substr(kAccounting.size()) : line;
}

std::optional<std::vector<std::string_view>> cells_of(std::string_view line) {
  std::vector<std::string_view> cells = split(without_report_head(line), ':');
  if (cells.size() < kColumns.size()) return std::nullopt;
  for (const std::size_t at : {5, 8, 9, 10, 11}) {
    if (!is_number(cells[at])) return std::nullopt;
  }
  return cells;
}

bool is_rule(std::string_view line) {
  line = trim(line);
  return line.size() >= 20 && line.find_first_not_of('=') == line.npos;
}

// Sites name the resource themselves.
bool is_accelerators(std::string_view resource) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"gpu", "gpus", "ngpu", "ngpus", "num_gpu", "num_gpus", "gpu_num", "gpu_count", "gpu_card",
       "gpu_cards", "cuda", "nvidia_gpu"});
  return std::ranges::find(kNames, lower(resource)) != kNames.end();
}

// "gpu=2,h_rt=3600": how many; 0 if none is asked for.
double asked_in(std::string_view list) {
  for (const std::string_view part : split(list, ',')) {
    const std::size_t equals = part.find('=');
    if (!is_accelerators(trim(part.substr(0, equals)))) continue;
    if (equals == part.npos) return 1;
    const std::string value = lower(trim(part.substr(equals + 1)));
    if (value.starts_with("t")) return 1;  // TRUE
    const std::size_t end = value.find_first_not_of("0123456789.");
    const double count = to_number<double>(value.substr(0, end)).value_or(0);
    if (count > 0) return count;
  }
  return 0;
}

// The lists after -l of a command line or category.
double asked_in_command(std::string_view command) {
  const std::vector<std::string_view> words = split(command, ' ');
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] != "-l") continue;
    if (const double count = asked_in(words[i + 1]); count > 0) return count;
  }
  return 0;
}

class SgeReader final : public LineReader {
 public:
  SgeReader(Intake& intake, const ReaderOptions& options)
      : LineReader(intake, options),
        // "Mon Nov  9 10:11:12 2026" of SGE, "11/09/2026 10:11:12.123" of UGE.
        words_{time_format("%a %b %d %H:%M:%S %Y")},
        slashes_{time_format("%m/%d/%Y %H:%M:%S.%f")} {}

 private:
  void end() override { end_record(); }

  Result<> take(std::string_view line, Where where) override {
    if (trim(line).empty() || line.starts_with('#')) return Ok{};
    if (is_rule(line)) {
      end_record();
      in_records_ = true;
      where_ = where;
      return Ok{};
    }
    if (in_records_) {
      const std::string_view text = trim(line);
      const std::size_t space = std::min(text.find_first_of(" \t"), text.size());
      record_.insert_or_assign(std::string(text.substr(0, space)),
                               std::string(trim(text.substr(space))));
      return Ok{};
    }
    const auto cells = cells_of(line);
    if (!cells) {
      // The reporting file also says what the queue did.
      const std::vector<std::string_view> report = split(line, ':');
      if (report.size() > 2 && is_number(report[0]) && !is_number(report[1])) return Ok{};
      intake_.trouble(Trouble::kBadLine, where, "is not a record of Grid Engine's accounting");
      return Ok{};
    }
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      record_.insert_or_assign(std::string(kColumns[i]), std::string((*cells)[i]));
    }
    // A category may hold colons.
    if (cells->size() > kColumns.size() + 3) record_.erase("pe_taskid");
    where_ = where;
    tell();
    record_.clear();
    return Ok{};
  }

  void end_record() {
    // The summary that qacct prints last has no job.
    if (record_.contains("jobnumber")) tell();
    record_.clear();
  }

  std::string_view field(std::string_view key) const {
    const auto found = record_.find(key);
    if (found == record_.end() || found->second == "NONE" || found->second == "undefined") {
      return {};
    }
    return found->second;
  }

  // 0: it has none, which is said as 0, "-/-" or nothing.
  std::optional<Nanos> time(std::string_view key) const {
    const std::string_view text = field(key);
    if (text.empty() || text == "0" || text.starts_with("-/-")) return Nanos{};
    for (const Result<TimeFormat>* format : {&words_, &slashes_}) {
      if (!*format) continue;
      if (const Instant at = (**format).read(text, *zone_); at.known()) return at.at;
    }
    if (const Instant at = read_time(text, *zone_); at.known()) return at.at;
    return std::nullopt;
  }

  // "100 : assumedly after job", "0".
  int number(std::string_view key) const {
    const std::string_view text = field(key);
    return to_number<int>(text.substr(0, text.find(' '))).value_or(0);
  }

  JobState state(bool started) const {
    constexpr int kMigrating = 24;
    constexpr int kRescheduled = 25;
    constexpr int kTimeLimit = 37;
    const int failed = number("failed");
    if (failed == kTimeLimit) return JobState::kTimeout;
    if (failed == kMigrating || failed == kRescheduled) return JobState::kPreempted;
    if (!started) return JobState::kCancelled;
    return failed == 0 && number("exit_status") == 0 ? JobState::kCompleted : JobState::kFailed;
  }

  // A request is for the job; sites that count by slot have fractions of a GPU for each.
  double accelerators(double slots) const {
    double count = asked_in_command(field("category"));
    if (count == 0) count = asked_in(field("hard_resources"));
    if (count == 0) count = asked_in_command(field("submit_cmd_line"));
    if (count != static_cast<double>(static_cast<int>(count))) count *= std::max(slots, 1.0);
    return count <= 1e6 ? count : 0;
  }

  // Only the first host is named; those of a parallel job are known if it cannot have others.
  bool is_on_one_host(double slots) const {
    const std::string pe = lower(field("granted_pe"));
    if (pe.empty() || slots <= 1) return true;
    constexpr auto kShared = std::to_array<std::string_view>(
        {"smp", "omp", "shm", "shared", "thread", "local", "single", "onenode"});
    return std::ranges::any_of(kShared, [&](std::string_view part) {
      return contains(pe, part) && !contains(pe, "ompi");
    });
  }

  void tell() {
    if (!field("pe_taskid").empty()) return intake_.troubles(Trouble::kStep, 1);
    if (field("jobnumber").empty()) {
      return intake_.trouble(Trouble::kBadLine, where_, "has no job's number");
    }
    const std::string_view task = field("taskid");
    const std::string id = task.empty() || task == "0"
                               ? std::string(field("jobnumber"))
                               : fmt::format("{}.{}", field("jobnumber"), task);
    const auto submit = time("qsub_time");
    const auto start = time("start_time");
    const auto end = time("end_time");
    if (!submit || !start || !end || *end < *start) {
      return intake_.trouble(
          Trouble::kBadTime, where_,
          fmt::format("job {}: start '{}' and end '{}' are not a valid run time", id,
                      clip(field("start_time"), 30), clip(field("end_time"), 30)));
    }
    const double slots = to_number<double>(field("slots")).value_or(1);
    const std::string reason = number("failed") != 0 ? fmt::format("failed {}", field("failed"))
                               : number("exit_status") != 0
                                   ? fmt::format("exit {}", number("exit_status"))
                                   : "";
    model::JobDraft job;
    job.id = id;
    job.name = field("jobname");
    job.user = field("owner");
    job.account = field("project").empty() ? field("account") : field("project");
    job.partition = field("qname");
    job.submit = *submit;
    job.start = *start;
    job.end = *start == Nanos{} ? Nanos{} : *end;
    job.state = state(*start != Nanos{});
    job.reason = reason;
    job.accelerators = accelerators(slots);
    if (is_on_one_host(slots)) {
      job.hosts = field("hostname");
      job.host_count = 1;
    }
    intake_.job(job, where_);
  }

  Result<TimeFormat> words_;
  Result<TimeFormat> slashes_;
  Fields record_;
  Where where_;
  bool in_records_ = false;  // Of qacct -j.
};

}  // namespace

bool claims(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  bool after_rule = false;
  for (const std::string_view line : split(head, '\n')) {
    if (trim(line).empty() || line.starts_with('#')) continue;
    if (after_rule) return trim(line).starts_with("qname ");
    after_rule = is_rule(line);
    if (!after_rule) return cells_of(trim(line)).has_value();
  }
  return false;
}

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options) {
  return std::make_unique<SgeReader>(intake, options);
}

Explained explain(std::string_view, const ReaderOptions&) {
  return {
      Gives::kJobs,
      "accounting of Grid Engine: accelerators are those asked for (-l gpu=N, for the whole job; "
      "a fraction is for each slot)"};
}

}  // namespace amdahl::fleet::sge
