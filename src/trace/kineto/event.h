// event.h: one event of a trace as in the file, and its conversion into rows.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/kineto/window.h"

namespace amdahl::trace::kineto {

// Kinds of events, from their category.
enum class Category : std::uint8_t {
  kNone,  // No category, or none yet.
  kUnknown,
  kOp,
  kRuntime,
  kDriver,
  kPython,
  kAnnotation,
  kOverhead,
  kKernel,
  kCopy,
  kSet,
  kMtia,  // Any work of an MTIA device.
  kDeviceAnnotation,
  kSync,
  kRange,       // Counters of a kernel (CUPTI range profiler).
  kLaunchFlow,  // From call to kernel; the correlation gives the same link.
  kDeviceFlow,  // From call to kernel, without a correlation (Ascend).
  kFlow,        // Between host events.
  kIgnored,     // Spans of the profiler itself.
};

// Knows all names that Kineto has used since 2021.
Category category_of(std::string_view name);

// Value of HostEvent::parent for an event without a category, until it is known whether its
// process is a device (device_process.h). Readers do not use `parent`.
inline constexpr std::uint32_t kNoCategory = 0;

// Which arguments of an event are read; all others are skipped.
enum Wanted : std::uint8_t { kWantNothing, kWantStack, kWantCall, kWantDevice, kWantAll };
Wanted wanted_args(Category category, char phase);

// Tokens point into the piece: numbers as written, strings without quotes. Empty: missing.
struct RawEvent {
  std::uint64_t offset = 0;  // In the stream.
  char phase = 0;
  Category category = Category::kNone;
  std::string_view name;
  std::string_view ts;
  std::string_view dur;
  std::string_view pid;
  std::string_view tid;
  std::string_view id;

  // From args.
  std::string_view device;
  std::string_view stream;
  std::string_view correlation;
  std::string_view bytes;
  std::string_view occupancy;
  std::string_view graph_node;
  std::string_view collective;
  std::string_view elements;
  std::string_view element_type;
  std::string_view group;
  std::string_view group_size;
  std::string_view sync_kind;
  std::string_view awaited_stream;
  std::string_view record_correlation;
  std::string_view call_stack;
  std::string_view inputs;     // All args of an operator.
  std::string_view label;      // "name" of a metadata event.
  std::string_view allocated;  // "Total Allocated".
  std::string_view memory_device;
  bool duplicate = false;
};

// Converts an event into rows of the window, or counts why not.
void keep_event(const RawEvent& event, Window& window);

// Keeps one value from the args of a counter or of a kernel's range.
void keep_value(const RawEvent& event, std::string_view key, std::string_view value,
                Window& window);

}  // namespace amdahl::trace::kineto
