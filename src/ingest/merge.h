// merge.h: keeps stored scan data small: few journals per file, and none unused.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/units.h"
#include "ingest/mark.h"

namespace amdahl::ingest {

// Merges the last journals of a file if those before are not much larger, so that a file that
// grows for a year has about a dozen, and the total rewritten stays a small multiple of what was
// read. The mark names either the old journals or the new one at any time. On failure (disk full,
// ^C) nothing changes.
void merge_journals(const std::string& folder, Mark& mark, const std::function<bool()>& stop);

// Touches a server's kept answer once a day, so that its age shows when it was last used.
void show_piece_use(const std::string& path, Nanos now);

struct Pruned {
  std::uint64_t files = 0;   // Folders of files not used for this long.
  std::uint64_t pieces = 0;  // Answers of servers, likewise.
};
// `below` is the folder of all marks. Data in use by another scan is kept.
Pruned prune_kept(const std::string& below, Nanos now, Nanos keep);

}  // namespace amdahl::ingest
