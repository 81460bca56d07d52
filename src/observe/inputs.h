// inputs.h: fingerprints of a job's inputs and digests of its outputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::observe {

struct Fingerprint {
  // Absent if there are no patterns or a pattern matches nothing (then not all inputs are known);
  // unreadable if a file is.
  model::Observed<std::string> sha256;
  std::int64_t bytes = 0;
  std::vector<std::string> problems;  // All of them, for people.
};

// Covers path, size and content of every matching file; a folder means all files in it. Files of
// 64 MiB or more are sampled (first, middle and last MiB, and modification time). Content hashes
// are cached in `cache_path` by path, size and times; an empty path disables the cache.
Fingerprint fingerprint(const std::vector<std::string>& patterns, const std::string& workdir,
                        const std::string& cache_path);

// The folder for "{out}" in a pattern. The digest's path keeps "{out}", so that arms compare
// equal.
struct OutputPlace {
  std::string out_dir;
  std::string workdir;
  Nanos oldest{};  // Unix time; an older file was not written by this run.
  // Folders in which the files must lie, wherever links lead; empty: anywhere.
  std::vector<std::string> within{};
};

// One row per matching file, or one for an absent file if none matches. A file older than the run
// (also in a folder outside the run's own), one that lies outside of `within`, an empty folder, and
// anything but plain files and folders do not count as results; `problems` lists them.
std::vector<model::FileDigest> digest_outputs(const std::vector<model::Output>& outputs,
                                              const OutputPlace& place,
                                              std::vector<std::string>& problems);

// The files that the run wrote outside of its own folder, which the outputs match; no links.
std::vector<std::string> results_elsewhere(const std::vector<model::Output>& outputs,
                                           const OutputPlace& place);

}  // namespace amdahl::observe
