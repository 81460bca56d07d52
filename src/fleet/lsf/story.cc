#include "fleet/lsf/story.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/lsf/request.h"

namespace amdahl::fleet::lsf {
namespace {

using model::JobState;
using model::Trouble;

constexpr std::string_view kStamp = "Mon Nov  9 10:11:12";

// Whether a line begins as `kStamp` does.
bool has_stamp(std::string_view line) {
  if (line.size() <= kStamp.size()) return false;
  for (std::size_t i = 0; i < kStamp.size(); ++i) {
    const char want = kStamp[i];
    const char is = line[i];
    const bool fits = is_digit(want) || i == 8     ? is_digit(is) || (i == 8 && is == ' ')
                      : want == ' ' || want == ':' ? is == want
                                                   : (is | 32) >= 'a' && (is | 32) <= 'z';
    if (!fits) return false;
  }
  return true;
}

void append_squeezed(std::string_view text, std::string& out) {
  std::ranges::copy_if(text, std::back_inserter(out),
                       [](char c) { return c != ' ' && c != '\t' && c != '\r'; });
}

// What stands in <> after `name`, both without spaces; empty if it is not there.
std::string_view value_of(std::string_view text, std::string_view name) {
  std::size_t found = text.find(name);
  while (found != text.npos) {
    const std::size_t open = found + name.size();
    const bool whole = found == 0 || text[found - 1] == ',' || text[found - 1] == ';';
    if (whole && open < text.size() && text[open] == '<') {
      const std::size_t end = text.find('>', open);
      return text.substr(open + 1, end == text.npos ? text.npos : end - open - 1);
    }
    found = text.find(name, found + 1);
  }
  return {};
}

// "Started8Task(s)onHost(s)<8*n1><8*n2>,Allocated...", "Dispatchedto<n1>": the first hosts.
Slots slots_in(std::string_view text) {
  Slots slots;
  std::size_t open = text.find('<');
  while (open != text.npos) {
    const std::size_t end = text.find('>', open);
    if (end == text.npos) break;
    slots.add(text.substr(open + 1, end - open - 1));
    // Hosts follow each other; anything between them begins something else.
    open = end + 1 < text.size() && text[end + 1] == '<' ? end + 1 : text.npos;
  }
  return slots;
}

GpuRequest request_in(std::string_view submitted, std::string_view started) {
  GpuRequest request = gpu_request(value_of(submitted, "RequestedGPU"));
  const std::size_t effective = started.find("EffectiveRES_REQ<");
  if (request.count == 0 && effective != started.npos) {
    request = gpu_request(started.substr(effective));
  }
  const std::size_t asked = submitted.find("RequestedResources<");
  if (request.count == 0 && asked != submitted.npos) {
    const std::string_view text = submitted.substr(asked);
    if (contains(text, "rusage[")) request = gpu_request(text);
  }
  return request;
}

JobState state_of(std::string_view ended) {
  if (ended.empty()) return JobState::kRunning;
  if (ended.starts_with("Done") || ended.starts_with("Completed<done>")) {
    return JobState::kCompleted;
  }
  if (contains(ended, "TERM_RUNLIMIT") || contains(ended, "runtimelimit")) {
    return JobState::kTimeout;
  }
  if (contains(ended, "TERM_MEMLIMIT")) return JobState::kOutOfMemory;
  if (contains(ended, "TERM_PREEMPT")) return JobState::kPreempted;
  for (const std::string_view who : {"TERM_OWNER", "TERM_ADMIN", "TERM_FORCE"}) {
    if (contains(ended, who)) return JobState::kCancelled;
  }
  return JobState::kFailed;
}

// "Exitedwithexitcode1.", "Exitedbysignal9."
std::string reason_of(std::string_view ended) {
  for (const auto& [sign, word] :
       {std::pair<std::string_view, std::string_view>{"exitcode", "exit"}, {"signal", "signal"}}) {
    const std::size_t found = ended.find(sign);
    if (found == ended.npos) continue;
    const std::string_view rest = ended.substr(found + sign.size());
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits > 0) return fmt::format("{} {}", word, rest.substr(0, digits));
  }
  return "";
}

}  // namespace

bool is_story(std::string_view line) {
  return line.starts_with("Job <") && line.size() > 5 && is_digit(line[5]);
}

Stories::Stories(Intake& intake, Zone zone, Nanos now)
    : intake_{intake}, zone_{std::move(zone)}, now_{now} {
  if (auto format = time_format("%a %b %d %H:%M:%S %Y")) with_year_ = *std::move(format);
}

Nanos Stories::time_of(std::string_view text) const {
  const std::string stamp(text.substr(0, kStamp.size()));
  const std::string_view after = text.substr(kStamp.size());
  if (after.size() > 5 && after[0] == ' ' && after[5] == ':') {
    const Instant at = with_year_.read(stamp + std::string(after.substr(0, 5)), zone_);
    return at.known() ? at.at : Nanos{};
  }
  using std::chrono::floor;
  const auto today = floor<std::chrono::days>(std::chrono::sys_time<Nanos>(now_));
  const int year = static_cast<int>(std::chrono::year_month_day(today).year());
  // A weekday and date come again after 5, 6 or 11 years, or 12 around a year without leap day.
  for (int back = 0; back < 12; ++back) {
    const Instant at = with_year_.read(fmt::format("{} {}", stamp, year - back), zone_);
    if (!at.known() || at.at > now_ + std::chrono::hours(24)) continue;
    const auto day = floor<std::chrono::days>(
        std::chrono::sys_time<Nanos>(at.at) +
        std::chrono::seconds(zone_.offset_at(at.at.count() / 1'000'000'000)));
    constexpr std::string_view kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    if (stamp.starts_with(kDays[std::chrono::weekday(day).c_encoding()])) return at.at;
  }
  return {};
}

void Stories::take(std::string_view line, Where where) {
  if (is_story(line)) {
    finish();
    in_job_ = in_event_ = true;
    job_.where = where;
  } else if (in_job_ && has_stamp(line)) {
    end_event();
    in_event_ = true;
    at_ = time_of(line);
    if (at_ == Nanos{}) {
      intake_.trouble(Trouble::kBadTime, where, fmt::format("'{}' is no time", clip(line, 24)));
    }
    line.remove_prefix(std::min(line.find(": ", kStamp.size()) + 1, line.size()));
  } else if (!line.starts_with("    ") || trim(line).empty()) {
    end_event();  // Tables and sums follow.
    return;
  }
  if (in_event_) append_squeezed(line, event_);
}

void Stories::end_event() {
  const std::string text = std::exchange(event_, {});
  if (!std::exchange(in_event_, false) || text.empty()) return;
  const auto starts = [&](std::string_view word) { return text.starts_with(word); };
  if (job_.about.empty()) {
    job_.about = text;
  } else if (starts("Submitted")) {
    job_.submitted = text;
    job_.submit = at_;
  } else if (starts("Dispatched") || starts("Started")) {
    job_.started = text;
    job_.start = at_;
  } else if (starts("Done") || starts("Exited") || starts("Completed")) {
    // A second line says why it ended: "Completed <exit>; TERM_RUNLIMIT: ...".
    if (job_.end == Nanos{}) job_.end = at_;
    job_.ended += text;
  } else if (contains(text, "requeue") && job_.start != Nanos{} && job_.end == Nanos{}) {
    job_.end = at_;
    job_.ended = "TERM_PREEMPT";
    const Told told = job_;
    tell();
    job_ = told;
    job_.start = job_.end = {};
    job_.started.clear();
    job_.ended.clear();
  }
}

void Stories::finish() {
  end_event();
  if (in_job_) tell();
  job_ = {};
  in_job_ = false;
}

void Stories::tell() {
  const std::string_view id = value_of(job_.about, "Job");
  if (id.empty()) {
    return intake_.trouble(Trouble::kBadLine, job_.where, "has no job's number");
  }
  const Slots slots = slots_in(job_.started);
  const GpuRequest request = request_in(job_.submitted, job_.started);
  const std::string hosts = join(slots.hosts, ",");
  const std::string reason = reason_of(job_.ended);
  model::JobDraft job;
  job.id = id;
  job.name = value_of(job_.about, "JobName");
  job.user = value_of(job_.about, "User");
  job.account = value_of(job_.about, "Project");
  if (job.account == "default") job.account = {};
  job.partition = value_of(job_.about, "Queue");
  if (job.partition.empty()) job.partition = value_of(job_.submitted, "toQueue");
  job.kind = request.kind;
  job.hosts = hosts;
  job.host_count = static_cast<int>(slots.hosts.size());
  job.reason = reason;
  job.submit = job_.submit;
  job.start = job_.start;
  job.end = job_.start == Nanos{} ? Nanos{} : job_.end;
  if (job.end != Nanos{} && job.end < job.start) {
    return intake_.trouble(Trouble::kBadTime, job_.where,
                           fmt::format("job {}: ends before it starts", id));
  }
  job.accelerators = gpus_of(request, slots);
  job.state = job_.start != Nanos{} ? state_of(job_.ended)
              : job_.ended.empty()  ? JobState::kPending
                                    : JobState::kCancelled;
  intake_.job(job, job_.where);
}

}  // namespace amdahl::fleet::lsf
