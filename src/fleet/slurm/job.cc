#include "fleet/slurm/job.h"

#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/hostlist.h"
#include "fleet/mig.h"
#include "fleet/slurm/jobstats.h"
#include "fleet/slurm/tres.h"

namespace amdahl::fleet::slurm {
namespace {

constexpr int kExitCodes = 256;
constexpr int kSignals = 128;

using model::JobState;
using model::Trouble;

struct StateWord {
  std::string_view word;   // As sacct prints it.
  std::string_view brief;  // As squeue does.
  JobState state;
};
// Slurm's words that the model does not have: what they mean for accelerator time decides.
constexpr StateWord kStates[] = {
    {"COMPLETED", "CD", JobState::kCompleted},    {"RUNNING", "R", JobState::kRunning},
    {"PENDING", "PD", JobState::kPending},        {"CANCELLED", "CA", JobState::kCancelled},
    {"FAILED", "F", JobState::kFailed},           {"TIMEOUT", "TO", JobState::kTimeout},
    {"NODE_FAIL", "NF", JobState::kNodeFail},     {"OUT_OF_MEMORY", "OOM", JobState::kOutOfMemory},
    {"PREEMPTED", "PR", JobState::kPreempted},    {"BOOT_FAIL", "BF", JobState::kNodeFail},
    {"DEADLINE", "DL", JobState::kTimeout},       {"REQUEUED", "RQ", JobState::kPreempted},
    {"REQUEUE_HOLD", "RH", JobState::kPreempted}, {"SPECIAL_EXIT", "SE", JobState::kFailed},
    {"REVOKED", "RV", JobState::kCancelled},      {"SUSPENDED", "S", JobState::kRunning},
    {"COMPLETING", "CG", JobState::kRunning},     {"CONFIGURING", "CF", JobState::kRunning},
    {"RESIZING", "RS", JobState::kRunning},       {"SIGNALING", "SI", JobState::kRunning},
    {"STAGE_OUT", "SO", JobState::kRunning},      {"STOPPED", "ST", JobState::kRunning},
    {"LAUNCH_FAILED", "", JobState::kFailed},
};

std::string_view or_empty(std::string_view text) {
  for (const std::string_view nothing : {"None assigned", "(null)", "None", "N/A", "Unknown"}) {
    if (text == nothing) return {};
  }
  return text;
}

// The accelerators that a record says were held, or for jobs in the queue are wanted.
Devices devices_of(const JobFields& words, bool held, TresMemory& memory) {
  if (held) {
    Devices devices = memory.devices_of(words.alloc_tres);
    const bool is_none = devices.count == 0 && devices.shards == 0 && !devices.is_bad;
    if (is_none) devices = devices_of_gres(words.alloc_gres);
    return devices;
  }
  Devices devices = devices_of_tres(words.req_tres);
  if (devices.count == 0) devices = devices_of_gres(words.req_gres);
  return devices;
}

// "exit 0" to "exit 255", then "signal 0" to "signal 127": texts that outlive all records.
const std::vector<std::string>& reasons() {
  static const std::vector<std::string> kReasons = [] {
    std::vector<std::string> all;
    for (int i = 0; i < kExitCodes; ++i) all.push_back(fmt::format("exit {}", i));
    for (int i = 0; i < kSignals; ++i) all.push_back(fmt::format("signal {}", i));
    return all;
  }();
  return kReasons;
}

// "1:0" as "exit 1", "0:9" as "signal 9"; empty for "0:0" and what is none.
std::string_view reason_of(std::string_view exit_code) {
  if (exit_code.empty() || exit_code == "0:0") return {};
  const std::size_t colon = exit_code.find(':');
  const int code = to_number<int>(exit_code.substr(0, colon)).value_or(0);
  const int signal =
      colon == exit_code.npos ? 0 : to_number<int>(exit_code.substr(colon + 1)).value_or(0);
  if (signal > 0 && signal < kSignals)
    return reasons()[static_cast<std::size_t>(kExitCodes + signal)];
  return code > 0 && code < kExitCodes ? reasons()[static_cast<std::size_t>(code)]
                                       : std::string_view();
}

}  // namespace

JobState state_of(std::string_view given) {
  std::string_view word = trim(given);
  word = word.substr(0, word.find(' '));  // "CANCELLED by 1000".
  for (const StateWord& row : kStates) {
    if (word == row.word || (!row.brief.empty() && word == row.brief)) return row.state;
  }
  // "OUT_OF_ME+" is cut to the width of a column.
  const bool is_cut = word.ends_with('+');
  std::string upper(word.substr(0, word.size() - (is_cut ? 1 : 0)));
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  for (const StateWord& row : kStates) {
    if (row.word == upper || (is_cut && upper.size() >= 4 && row.word.starts_with(upper))) {
      return row.state;
    }
  }
  return JobState::kOther;
}

// Which of the meanings of ambiguous times, and what where End - Start and the elapsed time differ
// by the hour of daylight saving.
void Jobs::settle(Instant start, Instant end, Times& times, Where where) {
  times.start = start.known() ? start.at : Nanos{};
  times.end = end.known() ? end.at : Nanos{};
  if (start.ambiguous() || end.ambiguous()) {
    intake_.trouble(Trouble::kAmbiguousTime, where,
                    start.ambiguous() ? "Start is in the hour that daylight saving repeats"
                                      : "End is in the hour that daylight saving repeats");
    if (times.elapsed < Nanos{} || !start.known() || !end.known()) return;
    for (const Nanos from : {start.at, start.other}) {
      for (const Nanos to : {end.at, end.other}) {
        if (to - from != times.elapsed) continue;
        times.start = from;
        times.end = to;
        return;
      }
    }
    return;
  }
  if (!start.known() || !end.known() || times.elapsed < Nanos{}) return;
  const Nanos missing = times.elapsed - (times.end - times.start);
  const bool is_hour = std::chrono::abs(missing) == std::chrono::hours{1};
  if (!is_hour || zone_is_known_) return check_elapsed(missing, times, where);
  // An hour too much may also be a suspension; then too the accelerators were held Elapsed long.
  intake_.trouble(Trouble::kAmbiguousTime, where,
                  "End - Start and ElapsedRaw differ by an hour, as over a change of daylight "
                  "saving; ElapsedRaw counts");
  times.end = times.start + times.elapsed;
}

// More than the clock shows is more than a change of it can hide; less may be a suspension.
void Jobs::check_elapsed(Nanos missing, Times& times, Where where) {
  const bool is_more = missing > std::chrono::hours{2};
  if (!is_more && missing >= -std::chrono::seconds{60}) return;
  const Nanos between = times.end - times.start;
  const auto whole = [](Nanos time) { return time / std::chrono::seconds{1}; };
  intake_.trouble(
      Trouble::kOddElapsed, where,
      fmt::format("ElapsedRaw is {} s, End - Start {} s; {} was taken", whole(times.elapsed),
                  whole(between), is_more ? "the latter" : "the first, as of a suspended job,"));
  if (is_more) times.elapsed = between;
}

std::optional<Jobs::Times> Jobs::times_of(const JobFields& words, Where where) {
  struct Named {
    std::string_view name;
    std::string_view text;
    Instant read;
  };
  Named named[] = {
      {"Submit", words.submit, {}}, {"Start", words.start, {}}, {"End", words.end, {}}};
  for (Named& one : named) {
    one.read = read_time(one.text, zone_);
    if (one.read.is == Instant::Is::kBad) {
      intake_.trouble(Trouble::kBadTime, where,
                      fmt::format("{} '{}' is not a time", one.name, clip(one.text, 40)));
      return std::nullopt;
    }
    if (one.read.skipped) {
      intake_.trouble(
          Trouble::kAmbiguousTime, where,
          fmt::format("{} '{}' is in the hour that daylight saving skips", one.name, one.text));
    }
  }
  Times times;
  times.submit = named[0].read.at;
  if (const auto seconds = to_number<std::int64_t>(words.elapsed_raw);
      seconds && *seconds >= 0 && *seconds < 9'000'000'000) {
    times.elapsed = std::chrono::seconds{*seconds};
  } else if (Nanos elapsed; read_duration(words.elapsed, elapsed)) {
    times.elapsed = elapsed;
  }
  settle(named[1].read, named[2].read, times, where);
  if (times.start > Nanos{} && times.end > Nanos{} && times.end < times.start) {
    intake_.trouble(Trouble::kBadTime, where,
                    fmt::format("End '{}' is before Start '{}'", words.end, words.start));
    return std::nullopt;
  }
  return times;
}

// sacct counts a job whose end was never recorded up to now, for years. Slurm ends a job at its
// limit; sites may let it overrun (OverTimeLimit), but not for days.
void Jobs::end_runaway(const JobFields& words, model::JobDraft& job, Where where) {
  constexpr Nanos kGrace = std::chrono::hours{24};
  if (job.state != JobState::kRunning || job.end != Nanos{}) return;
  Nanos limit{};
  if (const auto minutes = to_number<std::int64_t>(words.limit_raw);
      minutes && *minutes < 100'000'000) {
    limit = std::chrono::minutes{*minutes};
  } else if (!read_duration(words.limit, limit)) {
    return;
  }
  if (limit <= Nanos{} || job.elapsed <= limit + kGrace) return;
  const auto hours = [](Nanos time) { return time / std::chrono::hours{1}; };
  intake_.trouble(Trouble::kRunaway, where,
                  fmt::format("{} runs for {} h, its limit is {} h; the limit counts", job.id,
                              hours(job.elapsed), hours(limit)));
  job.elapsed = limit;
}

// "gpu:a100:4(IDX:0-3)" says which devices, if it speaks of one host.
void Jobs::add_places(const JobFields& words) {
  if (words.alloc_gres.find("IDX:") == words.alloc_gres.npos) return;
  const auto hosts = expand_hosts(words.node_list, 2);
  if (!hosts || hosts->size() != 1) return;
  for (const Gres& gres : accelerators_of_gres(words.alloc_gres)) {
    if (mig_share(gres.kind) > 0) continue;  // Slurm numbers slices, not devices.
    for (const int index : expand_indices(gres.indices)) {
      intake_.tell(Assignment{words.raw.empty() ? words.id : words.raw, hosts->front(),
                              std::to_string(index)});
    }
  }
}

void Jobs::take(const JobFields& words, Where where) {
  const std::string_view id = words.id.empty() ? words.raw : words.id;
  if (id.empty()) {
    intake_.trouble(Trouble::kBadLine, where, "has no JobID");
    return;
  }
  if (id.find('.') != id.npos) {
    intake_.troubles(Trouble::kStep, 1);
    return;
  }
  const auto times = times_of(words, where);
  if (!times) return;

  model::JobDraft job;
  job.id = id;
  job.raw = words.raw == id ? std::string_view() : words.raw;
  job.cluster = words.cluster;
  job.name = words.name;
  job.user = words.user;
  job.account = words.account;
  job.partition = words.partition;
  job.script = words.script;
  job.hosts = or_empty(words.node_list);
  job.reason = reason_of(words.exit_code);
  job.state = state_of(words.state);
  job.submit = times->submit;
  job.start = times->start;
  job.end = times->end;
  job.elapsed = times->elapsed;
  job.host_count = to_number<int>(words.nodes).value_or(0);
  end_runaway(words, job, where);
  if (job.state == JobState::kOther) {
    intake_.trouble(
        Trouble::kUnknownState, where,
        fmt::format("unknown state '{}'; the job is counted as 'other'", clip(words.state, 40)));
  }
  // A job cancelled in the queue has the time of its cancellation as Start, and no resources.
  const bool nothing = words.alloc_tres.empty() && words.alloc_gres.empty();
  if (job.state == JobState::kPending || (job.elapsed == Nanos{} && nothing)) job.start = {};
  // Without a start, an elapsed time says that the job ran only beside an end.
  const bool has_run = job.start != Nanos{} || (job.end != Nanos{} && job.elapsed > Nanos{});
  if (!has_run) job.elapsed = Nanos{-1};
  const Devices devices = devices_of(words, has_run, tres_);
  if (devices.is_bad) {
    intake_.trouble(Trouble::kBadLine, where,
                    fmt::format("'{}' has a count of accelerators that cannot be read",
                                clip(words.alloc_tres, 60)));
    return;
  }
  job.accelerators = devices.count;
  job.kind = devices.kind;
  if (devices.count == 0) job.shards = devices.shards;
  if (const auto mean = mean_of_summary(words.admin_comment)) {
    job.mean_utilisation = *mean;
    job.metric = "nvidia_gpu_duty_cycle";
  }
  intake_.job(job, where);
  add_places(words);
}

}  // namespace amdahl::fleet::slurm
