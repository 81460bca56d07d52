// reader.h: one row per format that a profiler writes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/trace_builder.h"

namespace amdahl::trace {

// The next bytes of a stream, unpacked, in order: how many were put into `room`, 0 at the end. May
// be called from another thread than the reader's, but never from two at once.
using NextBytes = std::function<Result<std::size_t>(std::span<char> room)>;

// What a reader is given. Nothing here opens files: the caller did.
struct Input {
  std::string name;         // As people know it; goes into TraceSource::file and errors.
  NextBytes next;           // From the first byte.
  std::uint64_t bytes = 0;  // How many are to come, if that is known; only to plan memory by.
  std::string database;     // The path, for formats that are SQLite files; `next` works as well.
};

// How much a reader may keep and use.
struct Limits {
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // Of rows; see LossKind::kMerged, kBudget.
  int threads = 2;                                      // At work at once; the result is the same.
};

struct Reader {
  std::string_view name;   // As typed after --format, and TraceSource::format.
  std::string_view reads;  // As people read it.

  // Whether `head`, the first 64 KiB or less of the unpacked bytes, is this format. No two rows
  // may agree.
  bool (*claims)(std::string_view head);

  // Adds one source with all its rows. What was lost is counted in the builder; an error means
  // that nothing of use was in it.
  Result<> (*read)(const Input& input, const Limits& limits, model::TraceBuilder& builder);
};

std::span<const Reader> readers();

// The one reader that claims these bytes; kUnsupported if none or several do.
Result<Reader> reader_for(std::string_view head);
Result<Reader> reader_named(std::string_view name);

}  // namespace amdahl::trace
