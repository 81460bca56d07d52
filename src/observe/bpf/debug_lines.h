// debug_lines.h: source lines of compiled code, from its debug information.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "observe/bpf/elf.h"

namespace amdahl::observe {

struct SourceLine {
  std::string function;  // Empty if unknown.
  std::string file;      // Absolute if the compiler recorded its folder.
  int line = 0;

  friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

// Debug information of one file: its own, or the separate file with its build id or debug link.
// Files are read, not mapped, so that truncating them meanwhile does no harm.
class DebugLines {
 public:
  // `path` is the file's path; `folder` is where debug information is installed.
  DebugLines(const ElfFile& file, const std::string& path,
             const std::string& folder = "/usr/lib/debug");
  ~DebugLines();
  DebugLines(DebugLines&&) noexcept;
  DebugLines& operator=(DebugLines&&) noexcept;

  bool is_there() const { return opened_ != nullptr; }

  // The line of the instruction, preceded, innermost first, by the lines of functions inlined
  // there. Empty if unknown.
  std::vector<SourceLine> at(std::uint64_t address) const;

 private:
  struct Opened;
  std::unique_ptr<Opened> opened_;
};

}  // namespace amdahl::observe
