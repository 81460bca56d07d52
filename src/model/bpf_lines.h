// bpf_lines.h: writes and reads the lines of a wait record (docs/format/bpf.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/bpf.h"

namespace amdahl::model {

// One interval in which a thread was off the CPU. Times are relative to BpfSummary::started.
struct SingleWait {
  std::int64_t tid = 0;
  std::int64_t waker = 0;      // Thread id; 0: a timer, a device, or a process outside the job.
  std::optional<Wait> reason;  // Nothing: preempted, not blocked.
  std::int64_t site = 0;       // WaitSite::id; 0: unknown.
  Nanos off{};                 // Left the CPU.
  Nanos woken{};               // Became runnable.
  Nanos on{};                  // Ran again.

  friend bool operator==(const SingleWait&, const SingleWait&) = default;
};

// Start of the first line. Readers recognise the format by it.
inline constexpr std::string_view kBpfHead = R"({"amdahl":"waits","version":1,)";
std::string bpf_head_line(const BpfSummary& summary);
// Appends one line.
void append_wait(std::string& out, const SingleWait& wait);
// Appends a line: from `at` on, only waits of at least `least` are listed one by one.
void append_least(std::string& out, Nanos at, Nanos least);
// The remaining lines; the last one is "end".
std::string bpf_summary_lines(const BpfSummary& summary);

enum class BpfLine : std::uint8_t { kHead, kWait, kPart, kEnd };

// Adds the line's content to `summary`, or fills `wait`. kBadInput says what is wrong with the
// line.
Result<BpfLine> read_bpf_line(std::string_view line, BpfSummary& summary, SingleWait& wait);

}  // namespace amdahl::model
