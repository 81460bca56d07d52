#include "model/trace.h"

#include <array>

#include <fmt/core.h>

namespace amdahl::model {
namespace {

// In the order of LossKind.
constexpr auto kLosses = std::to_array<std::string_view>({
    "truncated",
    "unreadable events",
    "events without a usable time",
    "negative durations, taken as 0",
    "times out of range",
    "duplicate keys, the first counts",
    "texts with control characters",
    "events of an unknown kind",
    "device events that name no device",
    "texts or events over the size limit",
    "flows with one end",
    "short host events left out to keep within the memory budget",
    "bytes not read because the memory budget was used up",
    "missing tables",
});

constexpr auto kReasons = std::to_array<std::string_view>(
    {"unknown", "futex", "read", "write", "poll", "sleep", "page fault", "block I/O", "network",
     "pipe", "device", "child"});

}  // namespace

std::string_view name(LossKind kind) { return kLosses[static_cast<std::size_t>(kind)]; }

std::string_view name(WaitReason reason) { return kReasons[static_cast<std::size_t>(reason)]; }

std::string describe(const Loss& loss) {
  if (loss.example.empty()) return fmt::format("{}: {}", name(loss.kind), loss.count);
  return fmt::format("{}: {} (first: {})", name(loss.kind), loss.count, loss.example);
}

}  // namespace amdahl::model
