// mark.h: how far a file was read, and where its journals are (docs/format/scan-mark.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ingest/read.h"
#include "os/stream.h"

namespace amdahl::ingest {

// Increased when readers extract more from the same bytes: older data is read again.
inline constexpr int kMarkSchema = 7;

struct Mark {
  int schema = kMarkSchema;
  std::string path;
  std::string how;  // Source and reader options; a different way to read is a different mark.
  os::FileFacts file;
  std::uint64_t size = 0;   // Bytes from the start that are in the journals.
  std::uint64_t lines = 0;  // Lines of text in them.
  std::string head;         // Digests of the first and last 4 KiB of those bytes.
  std::string tail;
  bool grows = false;  // More may be appended after `size`.
  std::vector<std::string> journals;
};

// The folder of this file's mark, below `below`.
std::string mark_folder(const std::string& below, const Input& input, const ReadOptions& options);

// The stored mark; without journals if it is missing or cannot be trusted.
Mark load_mark(const std::string& folder);
Result<> save_mark(const std::string& folder, const Mark& mark);

// Whether the file is a complete journal, by the sizes of its blocks.
bool is_whole_journal(const std::string& path);
// Whether all journals it names exist and are complete. Checks sizes only; contents are checked
// when read.
bool has_journals(const std::string& folder, const Mark& mark);
// Touches the mark once a day, so that its age shows when it was last used.
void show_use(const std::string& folder, const Mark& mark, Nanos now);
// An unused name: journals of the current mark stay until the new mark is written.
std::string next_journal(const std::string& folder);
// Removes journals that the mark does not name, left by a scan that died.
void remove_others(const std::string& folder, const Mark& mark);

// Why the file is not the one that the mark describes, for people; empty if unchanged or grown.
Result<std::string> changed_since(const Mark& mark, os::Stream& file);

// Sets the digests for a mark of `size` bytes.
Result<> sign(Mark& mark, os::Stream& file);

std::string how_to_read(const Input& input, const ReadOptions& options);

}  // namespace amdahl::ingest
