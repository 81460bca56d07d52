#include "fleet/lsf/acct.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/lsf/request.h"

namespace amdahl::fleet::lsf {
namespace {

using model::JobState;
using model::Trouble;

// Numbers, and texts in quotes, in which a quote is written twice.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < line.size()) {
    if (line[at] == ' ' || line[at] == '\r') {
      ++at;
      continue;
    }
    std::string word;
    if (line[at] != '"') {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      words.emplace_back(line.substr(at, end - at));
      at = end;
      continue;
    }
    for (++at; at < line.size(); ++at) {
      if (line[at] != '"') {
        word += line[at];
      } else if (at + 1 < line.size() && line[at + 1] == '"') {
        word += line[at++];
      } else {
        break;
      }
    }
    ++at;
    words.push_back(std::move(word));
  }
  return words;
}

// Words in the order of the file; what is asked for beyond its end is empty.
class Cursor {
 public:
  explicit Cursor(std::vector<std::string> words) : words_{std::move(words)} {}

  std::string_view next() { return at_ < words_.size() ? words_[at_++] : std::string_view(); }
  std::int64_t number() { return to_number<std::int64_t>(next()).value_or(-1); }
  void skip(std::size_t count) { at_ = std::min(at_ + count, words_.size()); }
  bool is_over() const { return at_ >= words_.size(); }
  std::span<const std::string> rest() const { return std::span(words_).subspan(at_); }

 private:
  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

Nanos time_of(std::int64_t seconds) {
  return seconds > 0 && seconds < 9'000'000'000 ? Nanos{std::chrono::seconds{seconds}} : Nanos{};
}

// Why LSF ended it (exitInfo): the termination reasons of bacct.
std::optional<JobState> ended_by(std::int64_t why) {
  switch (why) {
    case 1:   // TERM_PREEMPT
    case 10:  // TERM_REQUEUE_OWNER
    case 11:  // TERM_REQUEUE_ADMIN
      return JobState::kPreempted;
    case 5:  // TERM_RUNLIMIT
    case 6:  // TERM_DEADLINE
      return JobState::kTimeout;
    case 16:  // TERM_MEMLIMIT
    case 20:  // TERM_SWAP
      return JobState::kOutOfMemory;
    case 8:   // TERM_FORCE_OWNER
    case 9:   // TERM_FORCE_ADMIN
    case 14:  // TERM_OWNER
    case 15:  // TERM_ADMIN
      return JobState::kCancelled;
    default:
      return std::nullopt;
  }
}

constexpr std::int64_t kDone = 64;
constexpr std::size_t kUsageNumbers = 19;

}  // namespace

bool is_event(std::string_view line) {
  if (!line.starts_with('"')) return false;
  const std::size_t end = line.find("\" \"", 1);
  if (end == line.npos || end < 4) return false;
  const std::string_view name = line.substr(1, end - 1);
  const bool upper = std::ranges::all_of(
      name, [](char c) { return (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c); });
  return upper && end + 3 < line.size() && is_digit(line[end + 3]);
}

void tell_event(std::string_view line, Where where, Intake& intake) {
  Cursor in(words_of(line));
  if (in.next() != "JOB_FINISH") return;
  in.skip(1);  // Version.
  const std::int64_t end = in.number();
  const std::int64_t number = in.number();
  in.skip(3);  // User's number, options, processors.
  const std::int64_t submit = in.number();
  in.skip(2);  // Begin, term.
  const std::int64_t start = in.number();
  const std::string user(in.next());
  const std::string queue(in.next());
  GpuRequest request = gpu_request(in.next());
  in.skip(8);  // From dependencies to the job's file.
  // Counts come from the file: no loop runs past its end.
  for (std::int64_t asked = in.number(); asked > 0 && !in.is_over(); --asked) in.skip(1);
  Slots slots;
  for (std::int64_t hosts = in.number(); hosts > 0 && !in.is_over(); --hosts) slots.add(in.next());
  const std::int64_t status = in.number();
  in.skip(1);  // Host factor.
  const std::string name(in.next());
  const std::string command(in.next());
  in.skip(kUsageNumbers + 1);  // And whom to mail.
  const std::string project(in.next());
  if (number < 0 || in.is_over()) {
    return intake.trouble(Trouble::kBadLine, where, "is not a whole JOB_FINISH record");
  }
  const std::int64_t exit = in.number();
  in.skip(3);  // Processors, shell, time event.
  const std::int64_t index = in.number();
  in.skip(8);  // Memory, swap, spool files, reservation, service class, exceptions, information.
  const std::int64_t why = in.number();
  // What it was given in effect comes later, at a place that depends on the version.
  for (const std::string& word : in.rest()) {
    if (!contains(word, "rusage[")) continue;
    const GpuRequest given = gpu_request(word);
    if (given.count > 0) request = given;
  }
  const std::string id =
      index > 0 ? fmt::format("{}[{}]", number, index) : fmt::format("{}", number);
  const std::string hosts = join(slots.hosts, ",");
  const std::string reason = status == kDone || exit <= 0 ? ""
                             : exit % 256 != 0            ? fmt::format("signal {}", exit % 128)
                                                          : fmt::format("exit {}", exit / 256);
  model::JobDraft job;
  job.id = id;
  job.name = name;
  job.user = user;
  job.account = project == "default" ? std::string_view() : std::string_view(project);
  job.partition = queue;
  job.script = command;
  job.kind = request.kind;
  job.hosts = hosts;
  job.host_count = static_cast<int>(slots.hosts.size());
  job.reason = reason;
  job.submit = time_of(submit);
  job.start = time_of(start);
  job.end = job.start == Nanos{} ? Nanos{} : time_of(end);
  job.accelerators = gpus_of(request, slots);
  if (job.start != Nanos{} && job.end < job.start) {
    return intake.trouble(Trouble::kBadTime, where,
                          fmt::format("job {}: ends before it starts", id));
  }
  job.state = status == kDone        ? JobState::kCompleted
              : job.start == Nanos{} ? JobState::kCancelled
                                     : ended_by(why).value_or(JobState::kFailed);
  intake.job(job, where);
}

}  // namespace amdahl::fleet::lsf
