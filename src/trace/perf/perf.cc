#include "trace/perf/perf.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/lines.h"
#include "trace/perf/record.h"

namespace amdahl::trace::perf {
namespace {

using model::kNone;
using model::LossKind;
using model::ThreadSpan;
using model::ThreadState;
using model::TraceBuilder;
using model::WaitReason;

constexpr std::size_t kMostFrames = 256;
constexpr int kLinesForClaim = 200;

// A kernel function on the way to the switch, and what it waits for. The first row found on the
// stack counts.
struct Sign {
  std::string_view in_name;
  WaitReason reason;
};
constexpr auto kSigns = std::to_array<Sign>({
    {"futex", WaitReason::kFutex},
    {"nanosleep", WaitReason::kSleep},
    {"do_wait", WaitReason::kChild},
    {"do_poll", WaitReason::kPoll},
    {"do_select", WaitReason::kPoll},
    {"do_epoll_wait", WaitReason::kPoll},
    {"ep_poll", WaitReason::kPoll},
    {"pipe_read", WaitReason::kPipe},
    {"pipe_write", WaitReason::kPipe},
    {"handle_mm_fault", WaitReason::kPageFault},
    {"handle_userfault", WaitReason::kPageFault},
    {"sys_ioctl", WaitReason::kDevice},
    {"recvmsg", WaitReason::kNetwork},
    {"sendmsg", WaitReason::kNetwork},
    {"inet_accept", WaitReason::kNetwork},
    {"inet_csk_accept", WaitReason::kNetwork},
    {"sys_connect", WaitReason::kNetwork},
    {"fsync", WaitReason::kBlockIo},
    {"sys_read", WaitReason::kRead},
    {"sys_pread64", WaitReason::kRead},
    {"sys_write", WaitReason::kWrite},
    {"sys_pwrite64", WaitReason::kWrite},
    {"io_schedule", WaitReason::kBlockIo},
});

class Reading {
 public:
  Reading(TraceBuilder& builder, const Limits& limits, const Input& input)
      : builder_{builder}, most_rows_{limits.memory_bytes / sizeof(ThreadSpan)} {
    source_ = builder.source({.file = input.name, .format = "perf"});
  }

  Result<> run(Lines& lines);

 private:
  struct Task {
    std::uint32_t row = kNone;
    bool is_known = false;  // Its current state.
    Nanos since{};
    ThreadState state = ThreadState::kRunning;
    WaitReason reason = WaitReason::kUnknown;
    std::uint32_t stack = kNone;
  };

  Task& task(std::int64_t process, std::int64_t id, std::string_view command);
  bool has_room() { return rows_++ < most_rows_; }
  void turn(Task& task, ThreadState state, Nanos at, std::uint32_t waker = kNone);
  void take_frame(std::string_view line);
  void end_record();
  void end_switch(std::uint32_t stack);
  void end_waking();
  std::uint32_t stack();
  WaitReason reason_of_stack() const;

  TraceBuilder& builder_;
  const std::uint64_t most_rows_;
  std::uint32_t source_ = kNone;
  std::map<std::int64_t, Task> tasks_;  // By thread.
  std::uint64_t rows_ = 0;
  std::uint64_t unreadable_ = 0;
  std::string example_;
  std::uint64_t backwards_ = 0;
  std::uint64_t untimed_ = 0;

  std::string line_;  // The first line of the record that is being read.
  std::optional<Head> head_;
  std::vector<std::pair<std::string, std::string>> frames_;  // Function and file, innermost first.
  std::uint64_t records_ = 0;
};

Reading::Task& Reading::task(std::int64_t process, std::int64_t id, std::string_view command) {
  Task& found = tasks_[id];
  if (found.row == kNone) {
    found.row = builder_.thread(builder_.process(source_, std::max<std::int64_t>(0, process)), id);
  }
  // The last name is the one it chose.
  if (!command.empty()) builder_.trace().threads[found.row].name = builder_.intern(command);
  return found;
}

// Ends the current state as a span, if its start was seen.
void Reading::turn(Task& task, ThreadState state, Nanos at, std::uint32_t waker) {
  if (task.is_known && at < task.since) {
    ++backwards_;
    return;
  }
  if (task.is_known && at > task.since && has_room()) {
    ThreadSpan span;
    span.start = task.since;
    span.duration = at - task.since;
    span.thread = task.row;
    span.state = task.state;
    if (task.state == ThreadState::kBlocked) {
      span.reason = task.reason;
      span.stack = task.stack;
      span.waker = waker;
    }
    builder_.trace().thread_spans.push_back(span);
  }
  task.is_known = true;
  task.since = at;
  task.state = state;
}

std::uint32_t Reading::stack() {
  std::uint32_t found = kNone;
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    const auto& [function, file] = *frame;
    found = builder_.frame(found, file.empty() ? function : fmt::format("{} ({})", function, file));
  }
  return found;
}

WaitReason Reading::reason_of_stack() const {
  for (const Sign& sign : kSigns) {
    for (const auto& [function, file] : frames_) {
      if (!file.starts_with("kernel") && !file.empty()) continue;
      if (function.find(sign.in_name) != function.npos) return sign.reason;
    }
  }
  return WaitReason::kUnknown;
}

void Reading::end_switch(std::uint32_t stack) {
  const auto seen = parse_switch(head_->rest);
  if (!seen) {
    ++unreadable_;
    return;
  }
  // Number 0 is what runs when nothing does.
  if (seen->previous != 0) {
    Task& previous = task(head_->process, seen->previous, seen->previous_command);
    const bool can_run = seen->state.starts_with('R');
    turn(previous, can_run ? ThreadState::kRunnable : ThreadState::kBlocked, head_->at);
    previous.stack = stack;
    previous.reason = reason_of_stack();
    if (previous.reason == WaitReason::kUnknown && seen->state.starts_with('D')) {
      previous.reason = WaitReason::kBlockIo;
    }
  }
  if (seen->next != 0) {
    turn(task(-1, seen->next, seen->next_command), ThreadState::kRunning, head_->at);
  }
}

void Reading::end_waking() {
  const auto woken = parse_woken(" " + std::string(head_->rest));
  if (!woken) {
    ++unreadable_;
    return;
  }
  const auto known = tasks_.find(*woken);
  if (known == tasks_.end() || known->second.state != ThreadState::kBlocked) return;
  const std::uint32_t waker =
      head_->thread == 0 ? kNone : task(head_->process, head_->thread, head_->command).row;
  turn(known->second, ThreadState::kRunnable, head_->at, waker);
}

void Reading::end_record() {
  if (!head_) return;
  ++records_;
  const bool is_sched = head_->event.starts_with("sched:sched_") && head_->has_time;
  if (is_sched && head_->event == "sched:sched_switch") {
    end_switch(stack());
  } else if (is_sched &&
             (head_->event == "sched:sched_waking" || head_->event == "sched:sched_wakeup")) {
    end_waking();
  } else if (has_room()) {
    untimed_ += head_->has_time ? 0 : 1;
    builder_.trace().stack_samples.push_back(
        {.at = head_->at,
         .weight = head_->period,
         .thread = task(head_->process, head_->thread, head_->command).row,
         .stack = stack(),
         .event = builder_.intern(head_->event)});
  }
  head_.reset();
  frames_.clear();
}

void Reading::take_frame(std::string_view line) {
  const auto frame = parse_frame(line);
  if (!head_ || !frame) return;
  if (frames_.size() < kMostFrames) frames_.emplace_back(frame->function, frame->file);
}

Result<> Reading::run(Lines& lines) {
  while (const auto line = TRY(lines.next())) {
    if (trim(*line).empty()) {
      end_record();
      continue;
    }
    if (line->starts_with('#')) continue;
    if (line->starts_with('\t')) {
      take_frame(*line);
      continue;
    }
    // Who copied it from a terminal has spaces for the tab, or nothing.
    if (head_ && !parse_head(*line) && parse_frame(*line)) {
      take_frame(*line);
      continue;
    }
    end_record();
    line_ = *line;
    head_ = parse_head(line_);
    if (!head_ && ++unreadable_ == 1) {
      example_ = fmt::format("line {}: {}", lines.number(), clip(line_, 60));
    }
    // Without -g the only frame is on the same line.
    if (head_) take_frame(head_->rest);
  }
  end_record();
  if (records_ == 0) return bad_input("has no record of perf script");
  builder_.trace().sources[source_].bytes = lines.bytes();
  builder_.lose(source_, LossKind::kUnreadable, unreadable_, example_);
  builder_.lose(source_, LossKind::kNoTime, backwards_, "events out of order");
  builder_.lose(source_, LossKind::kNoTime, untimed_, "samples without a time; they still count");
  builder_.lose(source_, LossKind::kTooLong, lines.cut(), "lines over 16 MiB");
  builder_.lose(source_, LossKind::kBudget, rows_ > most_rows_ ? rows_ - most_rows_ : 0, "rows");
  return Ok{};
}

}  // namespace

bool claims(std::string_view head) {
  int looked = 0;
  bool is_open = false;  // A head without a time, which may be anything: a frame must follow.
  for (const std::string_view line : split(head, '\n')) {
    if (++looked > kLinesForClaim) break;
    if (is_open) return parse_frame(line).has_value();
    if (trim(line).empty() || line.starts_with('#')) continue;
    const auto found = parse_head(line);
    if (!found || found->has_time) return found.has_value();
    is_open = true;
  }
  return false;
}

Result<> read(const Input& input, const Limits& limits, TraceBuilder& builder) {
  Lines lines(input.next);
  return Reading(builder, limits, input).run(lines);
}

}  // namespace amdahl::trace::perf
