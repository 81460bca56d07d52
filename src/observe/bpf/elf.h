// elf.h: symbols, build id and unwind tables of an ELF file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

#include "os/fd.h"

namespace amdahl::observe {

// A 64-bit little-endian ELF file. Read piece by piece, never mapped: the job may truncate it
// meanwhile. Addresses are as linked. A malformed file yields nothing.
class ElfFile {
 public:
  static std::optional<ElfFile> open(const std::string& path);

  // The linked address of the byte at this file offset.
  std::optional<std::uint64_t> address_of(std::uint64_t file_offset) const;
  // Fills `bytes` starting at the address; false if the file does not contain all of them.
  bool read(std::uint64_t address, std::span<std::byte> bytes) const;
  // Reads up to the size of `bytes`; returns how many.
  std::size_t read_some(std::uint64_t address, std::span<std::byte> bytes) const;

  // Linked address of .eh_frame_hdr; 0: none.
  std::uint64_t unwind_table() const { return unwind_table_; }

  // The function that contains the address, demangled; empty if unknown. The first call reads the
  // symbols.
  std::string symbol(std::uint64_t address);
  // Linked address of an exported variable or function.
  std::optional<std::uint64_t> exported(std::string_view name) const;
  std::string build_id() const { return build_id_; }
  int fd() const { return file_.get(); }

 private:
  struct Segment {
    std::uint64_t offset = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };
  struct Symbol {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t name = 0;  // Offset in names_.
  };

  explicit ElfFile(os::Fd file) : file_{std::move(file)} {}
  bool read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  bool read_segments();
  void read_build_id(const Segment& notes);
  std::vector<Elf64_Shdr> sections() const;
  void read_symbols();
  void read_symbol_table(std::uint64_t table, std::uint64_t table_bytes, std::uint64_t names,
                         std::uint64_t names_bytes);

  os::Fd file_;
  std::vector<Segment> segments_;
  std::uint64_t unwind_table_ = 0;
  std::string build_id_;
  bool has_symbols_ = false;
  std::vector<Symbol> symbols_;  // Sorted by address.
  std::string names_;
};

}  // namespace amdahl::observe
