#include "observe/bpf/lines.h"

#include <algorithm>
#include <bit>

#include "observe/bpf/python.h"

namespace amdahl::observe {
namespace {

static_assert(kUserRegisters == Registers{}.values.size());

constexpr std::uint32_t kMostRounds = 64;   // An interpreter that is not loaded by then never is.
constexpr std::size_t kMostStacks = 50000;  // Told apart while the job runs.
constexpr std::size_t kMostRunning = 1000;  // Told in the end.

// Instructions of one line, and copies of one function, are one place.
bool is_same_line(const model::WaitFrame& a, const model::WaitFrame& b) {
  if (a.file != b.file || a.symbol != b.symbol || a.line != b.line) return false;
  return a.line > 0 ? a.source == b.source : !a.symbol.empty() || a.offset == b.offset;
}

bool is_same_place(const model::RunSite& a, const model::RunSite& b) {
  return a.tid == b.tid && a.python == b.python &&
         std::ranges::equal(a.frames, b.frames, is_same_line);
}

}  // namespace

void Lines::met(std::uint32_t process, std::uint32_t number) {
  stacks_.forget(static_cast<pid_t>(process));
  python_.forget(process);
  std::erase_if(looked_for_, [&](const PythonSearch& one) { return one.number == number; });
  looked_for_.push_back({process, number, 0});
}

std::vector<std::pair<std::uint32_t, waits_python>> Lines::next_round() {
  stacks_.next_round();
  std::vector<std::pair<std::uint32_t, waits_python>> found;
  std::erase_if(looked_for_, [&](PythonSearch& one) {
    // Less and less often: most are not Python.
    if (!std::has_single_bit(++one.rounds)) return false;
    const auto python = find_python(static_cast<pid_t>(one.process));
    if (python) found.emplace_back(one.number, *python);
    return python || one.rounds >= kMostRounds;
  });
  return found;
}

void Lines::take(const waits_event_stack& event) {
  Registers registers;
  std::copy(std::begin(event.registers), std::end(event.registers), registers.values.begin());
  const auto bytes = std::as_bytes(std::span(event.stack));
  const StackCopy stack{registers.stack(),
                        bytes.first(std::min<std::size_t>(event.bytes, bytes.size()))};
  const auto process = static_cast<pid_t>(event.process);
  if (event.site != 0) return stacks_.add(event.site, process, registers, stack);
  std::vector<Stacks::CodeAddress> places = stacks_.unwind(process, registers, stack);
  if (places.empty() || samples_.size() >= kMostStacks) {
    ++lost_samples_;
    return;
  }
  ++samples_[{event.tid, std::move(places)}];
}

void Lines::take(const waits_event_python& event) {
  const auto stack = python_.add(event);
  if (event.site != 0) {
    if (stack) python_sites_[event.site] = *stack;
  } else if (stack) {
    ++python_samples_[{event.tid, *stack}];
  } else {
    ++lost_samples_;
  }
}

std::vector<model::PythonFrame> Lines::python(std::uint32_t site) const {
  const auto known = python_sites_.find(site);
  return known == python_sites_.end() ? std::vector<model::PythonFrame>()
                                      : python_.frames(known->second);
}

std::vector<model::RunSite> Lines::running() {
  std::vector<model::RunSite> found;
  for (const auto& [key, count] : python_samples_) {
    found.push_back({key.first, count, {}, python_.frames(key.second)});
  }
  for (const auto& [key, count] : samples_) {
    model::RunSite site{key.first, count, stacks_.frames(key.second), {}};
    // Neighbours in the order of addresses are neighbours in the source.
    if (!found.empty() && is_same_place(found.back(), site)) {
      found.back().samples += count;
    } else {
      found.push_back(std::move(site));
    }
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, &model::RunSite::samples);
  for (std::size_t i = kMostRunning; i < found.size(); ++i) lost_samples_ += found[i].samples;
  if (found.size() > kMostRunning) found.resize(kMostRunning);
  return found;
}

}  // namespace amdahl::observe
