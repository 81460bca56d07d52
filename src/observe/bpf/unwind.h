// unwind.h: computes the registers of a frame's caller from the file's unwind tables.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "observe/bpf/elf.h"

namespace amdahl::observe {

// DWARF order of x86-64: 6 is rbp, 7 rsp, 16 rip.
struct Registers {
  static constexpr std::size_t kFrame = 6;
  static constexpr std::size_t kStack = 7;
  static constexpr std::size_t kInstruction = 16;
  std::array<std::uint64_t, 17> values{};

  std::uint64_t stack() const { return values[kStack]; }
  std::uint64_t instruction() const { return values[kInstruction]; }
};

// A copy of the stack, starting at the stack pointer.
struct StackCopy {
  std::uint64_t from = 0;
  std::span<const std::byte> bytes;

  std::optional<std::uint64_t> word(std::uint64_t address) const;
};

// Where a frame saves its caller's registers, at one instruction.
struct UnwindRow {
  struct Rule {
    enum Kind : std::uint8_t { kSame, kUndefined, kAtOffset, kIsOffset, kRegister, kUnknown };
    Kind kind = kSame;
    std::int64_t value = 0;
  };
  std::uint64_t frame_register = 0;
  std::int64_t frame_offset = 0;
  bool is_frame_known = false;
  std::array<Rule, 17> rules{};
};

// Nothing if the tables do not cover it. `address` is the instruction as linked; for a frame that
// made a call, use an address inside the call instruction, not the return address.
std::optional<UnwindRow> unwind_row(const ElfFile& file, std::uint64_t address);

// The caller's registers; nothing at the end of the stack or of its copy.
std::optional<Registers> caller_of(const UnwindRow& row, const Registers& registers,
                                   const StackCopy& stack);
// By frame pointers, for code without tables.
std::optional<Registers> caller_by_frame(const Registers& registers, const StackCopy& stack);

}  // namespace amdahl::observe
