// inputs.h: fingerprints of what a job reads and digests of what it wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::observe {

struct Fingerprint {
  // Absent if there are no patterns or one of them matches nothing, for then not all that the job
  // reads was seen; unreadable if a file is.
  model::Observed<std::string> sha256;
  std::int64_t bytes = 0;
  std::vector<std::string> problems;  // All of them, for people.
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
  Nanos oldest{};  // Unix time: a file that is older was not written by this run.
};

// One row per file that matches, or one for an absent file if none does. A file that is older than
// the run, a folder without a file and anything that is not a plain file or a folder of them is
// not a result either, and `problems` names it.
std::vector<model::FileDigest> digest_outputs(const std::vector<model::Output>& outputs,
                                              const OutputPlace& place,
                                              std::vector<std::string>& problems);

}  // namespace amdahl::observe
