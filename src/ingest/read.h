// read.h: reads one input of a scan: all of it, or only what is new since the last time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "bytes/unpack.h"
#include "fleet/source.h"
#include "os/stream.h"

namespace amdahl::ingest {

// A file whose format is known.
struct Input {
  std::string path;  // "-": standard input.
  std::string name;  // As people know it: the path, or "standard input".
  fleet::Source source;
  bytes::Packing packing = bytes::Packing::kNone;
  std::string head;         // The first bytes, unpacked; of a pipe as they came.
  fleet::Explained said;    // What these say.
  std::uint64_t bytes = 0;  // Its size as it lies on the disk; 0 for a pipe.
};

// As the row of that name reads it; without a name by content, and what the input does not need is
// taken out of `options`. An error names the path, and may have several lines.
Result<Input> recognise(const std::string& path, const std::string& kind,
                        const fleet::Sources& sources, fleet::ReaderOptions& options);

struct ReadOptions {
  fleet::ReaderOptions reader{};
  std::string folder{};  // Where to keep what was read; empty: nowhere.
  bool fresh = false;    // Do not trust what is kept.
  std::function<bool()> stop{};
  std::function<void(std::uint64_t bytes)> progress{};  // Of the file, so far.
};

struct InputSaid {
  std::uint64_t read = 0;   // Bytes of the file that were read now.
  std::uint64_t known = 0;  // Bytes that were read by an earlier scan, and told from its journal.
  std::string not_kept;  // Why the next scan must read it again; empty: it need not, or is small.
  std::string anew;      // Why what was kept is not used: "was rotated"; empty: it is, or none.
};

// A pipe that must be read more than once, as a file that goes when this does.
struct CopiedInput {
  Input input;
  os::Growing file;
};
// Beside `path`, which is never made itself.
Result<CopiedInput> copy_input(const Input& input, const std::string& path,
                               const std::function<bool()>& stop);

// Tells the intake all that the file says, in its order. What was read is kept with a mark of how
// far, written after the data it covers; a crash at any time costs only reading again. A file that
// was cut, rotated or rewritten since is read anew. The answer is that of a fresh reading, always.
Result<InputSaid> read_input(const Input& input, fleet::Intake& intake, const ReadOptions& options);

}  // namespace amdahl::ingest
