// read.h: reads one input of a scan, completely or only what is new.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "bytes/unpack.h"
#include "fleet/source.h"
#include "os/stream.h"

namespace amdahl::ingest {

// A file with a known format.
struct Input {
  std::string path;  // "-": standard input.
  std::string name;  // For people: the path, or "standard input".
  fleet::Source source;
  bytes::Packing packing = bytes::Packing::kNone;
  std::string head;         // First bytes, unpacked; for a pipe, as received.
  fleet::Explained said;    // Result of examining them.
  std::uint64_t bytes = 0;  // Size on disk; 0 for a pipe.
};

// Uses the format named `kind`, or detects it; then options that the input does not need are
// removed from `options`. The error names the path and may have several lines.
Result<Input> recognise(const std::string& path, const std::string& kind,
                        const fleet::Sources& sources, fleet::ReaderOptions& options);

struct ReadOptions {
  fleet::ReaderOptions reader{};
  std::string folder{};  // Where to keep what was read; empty: nowhere.
  bool fresh = false;    // Ignore kept data.
  std::function<bool()> stop{};
  std::function<void(std::uint64_t bytes)> progress{};  // Bytes of the file so far.
};

struct InputSaid {
  std::uint64_t read = 0;   // Bytes of the file read now.
  std::uint64_t known = 0;  // Bytes read by an earlier scan and replayed from its journal.
  // Why the next scan must read it again; empty: it need not, or it is small.
  std::string not_kept;
  std::string anew;  // Why kept data was not used: "was rotated"; empty: it was, or there is none.
};

// A copy of a pipe that must be read more than once; deleted with this object.
struct CopiedInput {
  Input input;
  os::Growing file;
};
// Stored next to `path`, which itself is never created.
Result<CopiedInput> copy_input(const Input& input, const std::string& path,
                               const std::function<bool()>& stop);

// Passes all records of the file to the intake, in order. What was read is kept, with a mark
// written after the data it covers; after a crash the data is only read again. A file that was
// truncated, rotated or rewritten is read again. The result always equals that of a fresh read.
Result<InputSaid> read_input(const Input& input, fleet::Intake& intake, const ReadOptions& options);

}  // namespace amdahl::ingest
