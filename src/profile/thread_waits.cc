#include "profile/thread_waits.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace amdahl::profile {
namespace {

using model::kNone;
using model::ThreadState;

struct Sum {
  Nanos total{};
  std::uint64_t count = 0;
  Nanos longest{};
  Nanos of_stack{};  // The total of `stack`.
  std::uint32_t stack = kNone;
};

using WaitKey = std::tuple<std::uint32_t, ThreadState, model::WaitReason>;

std::string thread_name(const model::Trace& trace, std::uint32_t thread) {
  if (thread == kNone) return "unknown";
  const std::string_view name = trace.names[trace.threads[thread].name];
  return name.empty() ? fmt::format("{}", trace.threads[thread].id)
                      : fmt::format("{} ({})", name, trace.threads[thread].id);
}

// From the first to the last that is known of any thread; 0 if only sums are.
Nanos extent(const model::Trace& trace) {
  Nanos from = Nanos::max();
  Nanos to = Nanos::min();
  for (const model::ThreadSpan& row : trace.thread_spans) {
    from = std::min(from, row.start);
    to = std::max(to, row.start + row.duration);
  }
  return from < to ? to - from : Nanos{};
}

}  // namespace

std::vector<WaitRow> thread_waits(const model::Trace& trace, std::size_t most) {
  std::map<WaitKey, Sum> sums;
  const auto add = [&](const auto& row, Nanos time, std::uint64_t count, Nanos longest) {
    if (row.state == ThreadState::kRunning) return;
    Sum& sum = sums[{row.thread, row.state, row.reason}];
    sum.total += time;
    sum.count += count;
    sum.longest = std::max(sum.longest, longest);
    if (row.stack != kNone && time > sum.of_stack) {
      sum.of_stack = time;
      sum.stack = row.stack;
    }
  };
  std::set<WaitKey> summed;  // A record of both has the spans in its totals.
  for (const model::ThreadTotal& row : trace.thread_totals) {
    add(row, row.total, row.count, row.longest);
    summed.insert({row.thread, row.state, row.reason});
  }
  for (const model::ThreadSpan& row : trace.thread_spans) {
    if (summed.contains({row.thread, row.state, row.reason})) continue;
    add(row, row.duration, 1, row.duration);
  }
  std::vector<WaitRow> rows;
  for (const auto& [key, sum] : sums) {
    const auto& [thread, state, reason] = key;
    WaitRow row;
    row.thread = thread_name(trace, thread);
    row.state = state == ThreadState::kBlocked ? "blocked" : "runnable";
    if (state == ThreadState::kBlocked) row.reason = std::string(name(reason));
    row.total = sum.total;
    row.count = sum.count;
    row.longest = sum.longest;
    if (sum.stack != kNone) {
      row.where = std::string(trace.names[trace.stacks[sum.stack].function]);
    }
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, &WaitRow::total);
  if (rows.size() <= most) return rows;
  const Nanos whole = extent(trace);
  const auto does_more = [&](const WaitRow& row) { return row.total * 10 < whole * 9; };
  if (whole > Nanos{}) std::ranges::stable_partition(rows, does_more);
  rows.resize(most);
  return rows;
}

std::vector<HotRow> hot_functions(const model::Trace& trace, std::size_t most) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> weights;
  std::map<std::uint32_t, std::uint64_t> all;
  for (const model::StackSample& sample : trace.stack_samples) {
    all[sample.event] += sample.weight;
    const std::uint32_t function = sample.stack == kNone ? 0 : trace.stacks[sample.stack].function;
    weights[{sample.event, function}] += sample.weight;
  }
  std::vector<HotRow> rows;
  for (const auto& [key, weight] : weights) {
    HotRow row;
    row.event = std::string(trace.names[key.first]);
    row.function = key.second == 0 ? "unknown" : std::string(trace.names[key.second]);
    const std::uint64_t whole = all[key.first];
    if (whole > 0) row.share = static_cast<double>(weight) / static_cast<double>(whole);
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, &HotRow::share);
  if (rows.size() > most) rows.resize(most);
  return rows;
}

}  // namespace amdahl::profile
