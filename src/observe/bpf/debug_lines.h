// debug_lines.h: the lines of source that compiled code came from, by its debug information.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "observe/bpf/elf.h"

namespace amdahl::observe {

struct SourceLine {
  std::string function;  // Empty if it is not told.
  std::string file;      // Absolute where the compiler knew its folder.
  int line = 0;

  friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

// Of one file: what it holds itself, or the file of debug information with its build id, or the
// one that it names. Nothing is mapped, so that a file that is truncated meanwhile does no harm.
class DebugLines {
 public:
  // `path` is where it was seen; `folder` is where debug information is installed.
  DebugLines(const ElfFile& file, const std::string& path,
             const std::string& folder = "/usr/lib/debug");
  ~DebugLines();
  DebugLines(DebugLines&&) noexcept;
  DebugLines& operator=(DebugLines&&) noexcept;

  bool is_there() const { return opened_ != nullptr; }

  // The line that holds the instruction, and before it, innermost first, those of functions that
  // were inlined there. Empty if it is not told.
  std::vector<SourceLine> at(std::uint64_t address) const;

 private:
  struct Opened;
  std::unique_ptr<Opened> opened_;
};

}  // namespace amdahl::observe
