// bpf_lines.h: the lines of a record of waits, written and read: docs/format/bpf.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/bpf.h"

namespace amdahl::model {

// One time that a thread was off the CPU. Times are since the summary's start.
struct SingleWait {
  std::int64_t tid = 0;
  std::int64_t waker = 0;      // Thread; 0: a timer, a device, or somebody outside the job.
  std::optional<Wait> reason;  // Nothing: it was not blocked but preempted.
  std::int64_t site = 0;       // 0: not known.
  Nanos off{};                 // It left the CPU,
  Nanos woken{};               // could run again,
  Nanos on{};                  // and ran.

  friend bool operator==(const SingleWait&, const SingleWait&) = default;
};

// The first line; a reader knows the format by its start.
inline constexpr std::string_view kBpfHead = R"({"amdahl":"waits","version":1,)";
std::string bpf_head_line(const BpfSummary& summary);
// Appends one line.
void append_wait(std::string& out, const SingleWait& wait);
// From `at` on only waits of at least `least` are told one by one.
void append_least(std::string& out, Nanos at, Nanos least);
// All the rest, the line "end" last.
std::string bpf_summary_lines(const BpfSummary& summary);

enum class BpfLine : std::uint8_t { kHead, kWait, kPart, kEnd };

// Adds what the line says to `summary`, or fills `wait`. kBadInput says what is wrong with it.
Result<BpfLine> read_bpf_line(std::string_view line, BpfSummary& summary, SingleWait& wait);

}  // namespace amdahl::model
