#include "trace/bpf/bpf.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "model/bpf_lines.h"
#include "trace/lines.h"

namespace amdahl::trace::bpf {
namespace {

using model::BpfLine;
using model::BpfSummary;
using model::kNone;
using model::SingleWait;
using model::TaskWaits;
using model::ThreadSpan;
using model::ThreadState;
using model::ThreadTotal;
using model::TraceBuilder;
using model::Wait;
using model::WaitReason;

WaitReason reason_of(Wait wait) {
  switch (wait) {
    case Wait::kFutex:
      return WaitReason::kFutex;
    case Wait::kRead:
      return WaitReason::kRead;
    case Wait::kWrite:
      return WaitReason::kWrite;
    case Wait::kSync:
    case Wait::kFiles:
      return WaitReason::kBlockIo;
    case Wait::kPoll:
      return WaitReason::kPoll;
    case Wait::kSleep:
      return WaitReason::kSleep;
    case Wait::kChild:
      return WaitReason::kChild;
    case Wait::kNet:
      return WaitReason::kNetwork;
    case Wait::kPipe:
      return WaitReason::kPipe;
    case Wait::kFault:
      return WaitReason::kPageFault;
    case Wait::kDevice:
      return WaitReason::kDevice;
    case Wait::kMemory:
    case Wait::kOther:
      break;
  }
  return WaitReason::kUnknown;
}

// Threads are known by their number until the end of the record names their process, and stacks by
// their site. Until then spans hold indices into the lists here.
class Reading {
 public:
  Reading(TraceBuilder& builder, const Limits& limits, const Input& input)
      : builder_{builder},
        most_spans_{limits.memory_bytes / sizeof(ThreadSpan)},
        first_span_{builder.trace().thread_spans.size()} {
    source_ = builder.source({.file = input.name, .format = "bpf", .clock = model::Clock::kUnix});
  }

  Result<> run(Lines& lines);

 private:
  struct Thread {
    std::int64_t tid = 0;
    Nanos first_off = Nanos::max();
    Nanos last_on{-1};
  };

  std::uint32_t thread(std::int64_t tid) {
    const auto [known, is_new] =
        numbers_.try_emplace(tid, static_cast<std::uint32_t>(threads_.size()));
    if (is_new) threads_.push_back({.tid = tid});
    return known->second;
  }

  void add(ThreadSpan span);
  void add(const SingleWait& wait);
  void add_ends();
  void add_totals(const TaskWaits& task, std::uint32_t thread);
  void settle();
  std::uint32_t stack_of(const model::WaitSite& site);

  TraceBuilder& builder_;
  const std::uint64_t most_spans_;
  const std::size_t first_span_;
  std::uint32_t source_ = kNone;
  BpfSummary summary_;
  std::unordered_map<std::int64_t, std::uint32_t> numbers_;
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> rows_;                         // Of threads_, in the trace.
  std::unordered_map<std::int64_t, std::uint32_t> stacks_;  // By site.
  std::unordered_map<std::int64_t, std::vector<std::size_t>> sites_of_;  // By thread.
  std::uint64_t over_budget_ = 0;
};

void Reading::add(ThreadSpan span) {
  auto& spans = builder_.trace().thread_spans;
  if (spans.size() - first_span_ >= most_spans_) {
    ++over_budget_;
    return;
  }
  if (span.duration > Nanos{}) spans.push_back(span);
}

void Reading::add(const SingleWait& wait) {
  const std::uint32_t number = thread(wait.tid);
  const std::uint32_t waker = wait.waker > 0 ? thread(wait.waker) : kNone;
  Thread& own = threads_[number];
  if (own.last_on >= Nanos{} && wait.off > own.last_on) {
    add({.start = own.last_on, .duration = wait.off - own.last_on, .thread = number});
  }
  own.first_off = std::min(own.first_off, wait.off);
  own.last_on = std::max(own.last_on, wait.on);
  if (wait.reason) {
    const std::uint32_t site =
        wait.site > 0 && wait.site < kNone ? static_cast<std::uint32_t>(wait.site) : kNone;
    add({.start = wait.off,
         .duration = wait.woken - wait.off,
         .thread = number,
         .waker = waker,
         .stack = site,
         .state = ThreadState::kBlocked,
         .reason = reason_of(*wait.reason)});
  }
  const Nanos ready = wait.reason ? wait.woken : wait.off;
  add({.start = ready,
       .duration = wait.on - ready,
       .thread = number,
       .state = ThreadState::kRunnable});
}

// A thread ran from its start to its first wait, and from its last wait to its end. This includes
// waits that were not reported one by one.
void Reading::add_ends() {
  for (const TaskWaits& task : summary_.tasks) {
    const std::uint32_t number = thread(task.tid);
    const Thread& own = threads_[number];
    // Without a single wait we know its sums only.
    if (own.last_on < Nanos{}) continue;
    if (own.first_off > task.born) {
      add({.start = task.born, .duration = own.first_off - task.born, .thread = number});
    }
    if (task.died > own.last_on) {
      add({.start = own.last_on, .duration = task.died - own.last_on, .thread = number});
    }
  }
}

// Python lines if it runs Python; the interpreter's own functions say nothing.
std::uint32_t Reading::stack_of(const model::WaitSite& site) {
  const auto name_in = [](const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return path.substr(slash == std::string::npos ? 0 : slash + 1);
  };
  std::uint32_t stack = kNone;
  for (auto frame = site.python.rbegin(); frame != site.python.rend(); ++frame) {
    stack = builder_.frame(
        stack, fmt::format("{} ({}:{})", frame->function, name_in(frame->file), frame->line));
  }
  if (stack != kNone) return stack;
  for (auto frame = site.frames.rbegin(); frame != site.frames.rend(); ++frame) {
    const std::string file = name_in(frame->file);
    std::string text = fmt::format("{} ({})", frame->symbol, file);
    if (frame->symbol.empty()) text = fmt::format("{}+{:#x}", file, frame->offset);
    if (frame->line > 0) {
      text = fmt::format("{} ({}:{})", frame->symbol, name_in(frame->source), frame->line);
    }
    stack = builder_.frame(stack, text);
  }
  return stack;
}

// Places that waited keep their part of a reason, the rest of it has no stack.
void Reading::add_totals(const TaskWaits& task, std::uint32_t thread) {
  auto& totals = builder_.trace().thread_totals;
  const auto keep = [&](ThreadState state, Nanos time, std::int64_t count) {
    if (time <= Nanos{}) return;
    totals.push_back({.total = time,
                      .count = static_cast<std::uint64_t>(count),
                      .thread = thread,
                      .state = state});
  };
  keep(ThreadState::kRunning, task.running, 0);
  keep(ThreadState::kRunnable, task.runqueue + task.preempted,
       task.runqueue_waits + task.preemptions);
  std::array<Nanos, model::kWaits> rest = task.blocked;
  std::array<std::int64_t, model::kWaits> rest_count = task.blocks;
  for (const std::size_t number : sites_of_[task.tid]) {
    const model::WaitSite& site = summary_.sites[number];
    const auto reason = static_cast<std::size_t>(site.reason);
    const auto stack = stacks_.find(site.id);
    rest[reason] -= site.time;
    rest_count[reason] -= site.count;
    totals.push_back({.total = site.time,
                      .count = static_cast<std::uint64_t>(site.count),
                      .longest = site.longest,
                      .thread = thread,
                      .stack = stack == stacks_.end() ? kNone : stack->second,
                      .state = ThreadState::kBlocked,
                      .reason = reason_of(site.reason)});
  }
  for (std::size_t i = 0; i < model::kWaits; ++i) {
    if (rest[i] <= Nanos{}) continue;
    totals.push_back({.total = rest[i],
                      .count = static_cast<std::uint64_t>(std::max<std::int64_t>(1, rest_count[i])),
                      .thread = thread,
                      .state = ThreadState::kBlocked,
                      .reason = reason_of(static_cast<Wait>(i))});
  }
}

// Now that all is known.
void Reading::settle() {
  model::Trace& trace = builder_.trace();
  for (std::size_t i = 0; i < summary_.sites.size(); ++i) {
    const model::WaitSite& site = summary_.sites[i];
    const std::uint32_t stack = stack_of(site);
    if (stack != kNone) stacks_[site.id] = stack;
    if (site.count > 0) sites_of_[site.tid].push_back(i);
  }
  std::unordered_map<std::int64_t, const TaskWaits*> tasks;
  for (const TaskWaits& task : summary_.tasks) tasks[task.tid] = &task;
  for (const Thread& own : threads_) {
    const auto task = tasks.find(own.tid);
    const bool is_known = task != tasks.end();
    const std::uint32_t process =
        builder_.process(source_, is_known ? task->second->process : own.tid);
    const std::uint32_t row = builder_.thread(process, own.tid);
    if (is_known) trace.threads[row].name = builder_.intern(task->second->name);
    if (is_known && task->second->tid == task->second->process) {
      trace.processes[process].name = trace.threads[row].name;
    }
    rows_.push_back(row);
  }
  for (const TaskWaits& task : summary_.tasks) add_totals(task, rows_[thread(task.tid)]);
  const Nanos base = summary_.started;
  for (std::size_t i = first_span_; i < trace.thread_spans.size(); ++i) {
    ThreadSpan& span = trace.thread_spans[i];
    span.start += base;
    span.thread = rows_[span.thread];
    if (span.waker != kNone) span.waker = rows_[span.waker];
    if (span.stack == kNone) continue;
    const auto stack = stacks_.find(span.stack);
    span.stack = stack == stacks_.end() ? kNone : stack->second;
  }
}

Result<> Reading::run(Lines& lines) {
  bool is_ended = false;
  bool has_head = false;
  SingleWait wait;
  while (const auto line = TRY(lines.next())) {
    if (trim(*line).empty()) continue;
    const auto kind = model::read_bpf_line(*line, summary_, wait);
    if (!kind && !has_head) {
      return Result<>(kind.error()).in(fmt::format("line {}", lines.number()));
    }
    if (!kind) {
      // A cut-off record ends in an incomplete line: not an error.
      if (!lines.is_whole()) continue;
      builder_.lose(source_, model::LossKind::kUnreadable, 1,
                    fmt::format("line {}: {}", lines.number(), kind.error().text));
      continue;
    }
    has_head = has_head || *kind == BpfLine::kHead;
    is_ended = is_ended || *kind == BpfLine::kEnd;
    if (*kind == BpfLine::kWait) add(wait);
  }
  if (!has_head) return bad_input("has no header line");
  add_ends();
  for (const TaskWaits& task : summary_.tasks) thread(task.tid);
  settle();
  model::TraceSource& source = builder_.trace().sources[source_];
  source.host = summary_.host;
  source.base = summary_.started;
  source.bytes = lines.bytes();
  if (!is_ended) {
    builder_.lose(source_, model::LossKind::kTruncated, 1,
                  fmt::format("after line {}: the end record is missing", lines.number()));
  }
  builder_.lose(source_, model::LossKind::kTooLong, lines.cut(), "lines over 16 MiB");
  builder_.lose(source_, model::LossKind::kBudget, over_budget_, "spans");
  builder_.lose(source_, model::LossKind::kMerged, static_cast<std::uint64_t>(summary_.lost_events),
                "waits beyond the record's size; the totals include them");
  return Ok{};
}

}  // namespace

bool claims(std::string_view head) { return head.starts_with(model::kBpfHead); }

Result<> read(const Input& input, const Limits& limits, TraceBuilder& builder) {
  Lines lines(input.next);
  return Reading(builder, limits, input).run(lines);
}

}  // namespace amdahl::trace::bpf
