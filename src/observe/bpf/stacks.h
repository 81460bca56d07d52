// stacks.h: turns copied stacks of waiting sites into named frames.
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

// A code mapping of a process: "7f00-7f10 r-xp 00002000 fe:00 12 /usr/lib/libc.so.6".
struct Mapping {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t offset = 0;
  std::string file;
};

// The executable file mappings, and the kernel's own, in /proc/PID/maps; sorted by address.
std::vector<Mapping> parse_maps(std::string_view text);

// Stacks are unwound at once, while the process exists. Names and lines are looked up on demand.
// Not thread-safe.
class Stacks {
 public:
  explicit Stacks(std::string proc_root = "/proc") : proc_root_{std::move(proc_root)} {}

  struct CodeAddress {
    std::size_t file = 0;  // Index into files_.
    std::uint64_t address = 0;
    friend auto operator<=>(const CodeAddress&, const CodeAddress&) = default;
  };

  // The stack of a thread of `process`, innermost first.
  std::vector<CodeAddress> unwind(pid_t process, const Registers& registers,
                                  const StackCopy& stack);
  // Adds the stack of `site`.
  void add(std::uint32_t site, pid_t process, const Registers& registers, const StackCopy& stack);
  // The process called exec.
  void forget(pid_t process) { maps_.erase(process); }
  // Starts a round: the maps of each process are read at most once per round.
  void next_round() { ++round_; }

  // Innermost first; empty if unknown.
  std::vector<model::WaitFrame> frames(std::uint32_t site);
  std::vector<model::WaitFrame> frames(const std::vector<CodeAddress>& places);

 private:
  struct File {
    std::string path;
    std::optional<ElfFile> elf;
    std::optional<DebugLines> lines;  // Opened on demand.
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
