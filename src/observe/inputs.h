// inputs.h: fingerprints of what a job reads and digests of what it wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "model/receipt.h"

namespace amdahl::observe {

struct Fingerprint {
  std::string sha256;  // Empty if there are no patterns.
  std::int64_t bytes = 0;
  std::vector<std::string> problems;  // Patterns that match nothing.
};

// Over path, size and content of every file that matches; a folder stands for all files in it.
// Files of 64 MiB and more are sampled (first, middle and last MiB) and bring their time of change.
// Contents are remembered in `cache_path` by path, size and times, so that the next run does not
// read them again; an empty path remembers nothing.
Fingerprint fingerprint(const std::vector<std::string>& patterns, const std::string& workdir,
                        const std::string& cache_path);

// Where a pattern's "{out}" points; the digest's path keeps the word, so that arms compare.
struct OutputPlace {
  std::string out_dir;
  std::string workdir;
  Nanos started{};  // Unix time: a file that is older was not written by this run.
};

// One row per file that matches, or one with an empty digest if none does. A file older than the
// run counts as missing and is named in `problems`.
std::vector<model::FileDigest> digest_outputs(const std::vector<std::string>& patterns,
                                              const OutputPlace& place,
                                              std::vector<std::string>& problems);

}  // namespace amdahl::observe
