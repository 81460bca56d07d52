// stacks.h: the call stacks of places that wait, from copies of stacks to named frames.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <sys/types.h>

#include "model/bpf.h"
#include "observe/bpf/debug_lines.h"
#include "observe/bpf/elf.h"
#include "observe/bpf/unwind.h"

namespace amdahl::observe {

// Code of a process: "7f00-7f10 r-xp 00002000 fe:00 12 /usr/lib/libc.so.6".
struct Mapping {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t offset = 0;
  std::string file;
};

// The executable mappings of files, and the kernel's own, in /proc/PID/maps; by address.
std::vector<Mapping> parse_maps(std::string_view text);

// Stacks are unwound at once, while the process is there; names and lines are looked up when they
// are asked for. Used by one thread.
class Stacks {
 public:
  explicit Stacks(std::string proc_root = "/proc") : proc_root_{std::move(proc_root)} {}

  struct CodeAddress {
    std::size_t file = 0;  // Of files_.
    std::uint64_t address = 0;
    friend auto operator<=>(const CodeAddress&, const CodeAddress&) = default;
  };

  // Of a thread of `process`, innermost first.
  std::vector<CodeAddress> unwind(pid_t process, const Registers& registers,
                                  const StackCopy& stack);
  // The stack of `site`.
  void add(std::uint32_t site, pid_t process, const Registers& registers, const StackCopy& stack);
  // The process executes another program.
  void forget(pid_t process) { maps_.erase(process); }
  // What was loaded since is found again; within a round each process is looked at once.
  void next_round() { ++round_; }

  // Innermost first; empty if the site's stack is not known.
  std::vector<model::WaitFrame> frames(std::uint32_t site);
  std::vector<model::WaitFrame> frames(const std::vector<CodeAddress>& places);

 private:
  struct File {
    std::string path;
    std::optional<ElfFile> elf;
    std::optional<DebugLines> lines;  // Opened when they are asked for.
  };

  struct Maps {
    std::vector<Mapping> mappings;
    std::uint64_t round = 0;
  };

  const Mapping* find(pid_t process, std::uint64_t instruction);
  const std::optional<UnwindRow>& row_for(const CodeAddress& place);
  std::size_t open(pid_t process, const std::string& path);
  const std::vector<model::WaitFrame>& named(const CodeAddress& place);

  std::string proc_root_;
  std::map<pid_t, Maps> maps_;
  std::uint64_t round_ = 1;
  std::vector<File> files_;
  std::map<std::string, std::size_t> file_numbers_;
  std::vector<std::unordered_map<std::uint64_t, std::optional<UnwindRow>>> rows_;  // By file.
  std::size_t rows_known_ = 0;
  std::map<std::uint32_t, std::vector<CodeAddress>> sites_;
  std::map<CodeAddress, std::vector<model::WaitFrame>> named_;
};

}  // namespace amdahl::observe
