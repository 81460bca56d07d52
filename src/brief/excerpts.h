// excerpts.h: the lines of a job's source that cost most, with the lines around them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "code/source.h"
#include "profile/findings.h"
#include "profile/lines.h"

namespace amdahl::brief {

// A stretch of one file.
struct Excerpt {
  std::string file;  // As patches name it: from the root of the repo; else the path as it was seen.
  double seconds = 0;     // Of its lines that were timed.
  std::vector<int> hot;   // Those lines, and lines of findings.
  std::string text;       // "*  42  for x in y:", a star at the hot ones; lines are cut.
  std::string dearest{};  // Of the hot ones: "42: 2.1 s, 40: 0.3 s".
};

// Of at most `most_bytes` of text together, dearest first. Lines of files that are not among the
// sources (libraries) and imports are left out.
std::vector<Excerpt> excerpts(std::span<const code::Source> sources,
                              std::span<const profile::LineCost> lines,
                              std::span<const profile::Finding> findings, std::size_t most_bytes);

struct SourceFile {
  std::string path;
  int lines = 0;
};
// Largest first, at most so many.
std::vector<SourceFile> source_files(std::span<const code::Source> sources, std::size_t most);

}  // namespace amdahl::brief
