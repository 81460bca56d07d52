// scan_mark.h: how far a file was read, and what was made of it: docs/format/scan-mark.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/scan_read.h"
#include "os/stream.h"

namespace amdahl::app {

struct Mark {
  int schema = 1;
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

// Why the file is not what the mark saw, for people; empty if it is the same, or has grown.
Result<std::string> changed_since(const Mark& mark, os::Stream& file);

// Digests of what a mark of `size` bytes would say.
Result<> sign(Mark& mark, os::Stream& file);

std::string how_to_read(const Input& input, const ReadOptions& options);

}  // namespace amdahl::app
