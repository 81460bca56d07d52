// mark.h: how far a file was read, and what was made of it: docs/format/scan-mark.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ingest/read.h"
#include "os/stream.h"

namespace amdahl::ingest {

// Grows when readers come to tell more of the same bytes: what was kept before is read anew.
inline constexpr int kMarkSchema = 6;

struct Mark {
  int schema = kMarkSchema;
  std::string path;
  std::string how;  // Source and reader options: another way to read it is another mark.
  os::FileFacts file;
  std::uint64_t size = 0;   // Bytes from the start that are in the journals.
  std::uint64_t lines = 0;  // Lines of text in them.
  std::string head;         // Digests of the first and the last 4 KiB of those bytes.
  std::string tail;
  bool grows = false;  // More may be read from `size` on.
  std::vector<std::string> journals;
};

// The folder of this file's marks, below that of all.
std::string mark_folder(const std::string& below, const Input& input, const ReadOptions& options);

// As it was written; one without journals if there is none, or none that can be trusted.
Mark load_mark(const std::string& folder);
Result<> save_mark(const std::string& folder, const Mark& mark);

// Whether it is a journal to its end, by the sizes of its blocks.
bool is_whole_journal(const std::string& path);
// Whether every journal that it names is there to its end. Looks at sizes alone; what is within is
// checked when it is read.
bool has_journals(const std::string& folder, const Mark& mark);
// Writes it anew once a day, so that its age says when it was last of use.
void show_use(const std::string& folder, const Mark& mark, Nanos now);
// A name that nothing there has: what the mark names stays until there is another mark.
std::string next_journal(const std::string& folder);
// Journals, whole or begun, that the mark does not name: of a scan that died.
void remove_others(const std::string& folder, const Mark& mark);

// Why the file is not what the mark saw, for people; empty if it is the same, or has grown.
Result<std::string> changed_since(const Mark& mark, os::Stream& file);

// Digests of what a mark of `size` bytes would say.
Result<> sign(Mark& mark, os::Stream& file);

std::string how_to_read(const Input& input, const ReadOptions& options);

}  // namespace amdahl::ingest
