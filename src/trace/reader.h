// reader.h: the table of trace readers, one row per format.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/trace_builder.h"

namespace amdahl::trace {

// Reads the next unpacked bytes of a stream into `room`; returns how many, 0 at the end. May be
// called from another thread than the reader's, but not concurrently.
using NextBytes = std::function<Result<std::size_t>(std::span<char> room)>;

// Input of a reader. Readers do not open files.
struct Input {
  std::string name;         // For people; goes into TraceSource::file and errors.
  NextBytes next;           // Starts at the first byte.
  std::uint64_t bytes = 0;  // Expected size, if known; only to plan memory.
  std::string database;     // Path, for SQLite formats; `next` works too.
};

// Memory and threads that a reader may use.
struct Limits {
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // For rows; see LossKind::kMerged, kBudget.
  int threads = 2;                                      // Does not affect the result.
};

struct Reader {
  std::string_view name;   // Argument of --format, and TraceSource::format.
  std::string_view reads;  // For people.

  // Whether `head`, the first 64 KiB or less of the unpacked bytes, is this format. At most one
  // row may claim any input.
  bool (*claims)(std::string_view head);

  // Adds one source with all its rows. Losses are counted in the builder. An error means that
  // nothing was usable.
  Result<> (*read)(const Input& input, const Limits& limits, model::TraceBuilder& builder);
};

// The one reader that claims these bytes; kUnsupported if none or several do.
Result<Reader> reader_for(std::string_view head);
Result<Reader> reader_named(std::string_view name);

}  // namespace amdahl::trace
