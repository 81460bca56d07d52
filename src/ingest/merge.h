// merge.h: keeps what scans leave small: few journals a file, and none that nobody needs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/units.h"
#include "ingest/mark.h"

namespace amdahl::ingest {

// Merges the last journals of a file where those before them are not much larger, so that a file
// that grows for a year has a dozen of them, and what is written again stays a small multiple of
// what was read. The mark names the old ones or the new one, whatever happens. What cannot be
// merged (a full disk, ^C) stays as it is.
void merge_journals(const std::string& folder, Mark& mark, const std::function<bool()>& stop);

// Makes the kept answer of a server young again, once a day: its age says when it was last of use.
void show_piece_use(const std::string& path, Nanos now);

struct Pruned {
  std::uint64_t files = 0;   // Folders of files that no scan has used for so long.
  std::uint64_t pieces = 0;  // Answers of servers, the same.
};
// `below`: the folder of all marks. What another scan holds just now stays.
Pruned prune_kept(const std::string& below, Nanos now, Nanos keep);

}  // namespace amdahl::ingest
