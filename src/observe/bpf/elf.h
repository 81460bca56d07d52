// elf.h: what a program's file says of its code: symbols, build id, and how to unwind it.
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

// A 64-bit little-endian ELF file. It is read piece by piece and never mapped: the job may
// truncate it under us. Addresses are as the file is linked. A file that lies about itself yields
// nothing; it does no harm.
class ElfFile {
 public:
  static std::optional<ElfFile> open(const std::string& path);

  // The address that the byte at this offset of the file is linked to.
  std::optional<std::uint64_t> address_of(std::uint64_t file_offset) const;
  // Fills `bytes` from the address on; false if the file does not hold all of them.
  bool read(std::uint64_t address, std::span<std::byte> bytes) const;
  // As many as there are, up to the size of `bytes`.
  std::size_t read_some(std::uint64_t address, std::span<std::byte> bytes) const;

  // Where .eh_frame_hdr is linked to; 0: there is none.
  std::uint64_t unwind_table() const { return unwind_table_; }

  // The function around the address, demangled; empty if no symbol says. The first call reads the
  // symbols.
  std::string symbol(std::uint64_t address);
  // Where a variable or function of this name is linked to, among those that the file exports.
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
    std::uint64_t name = 0;  // In names_.
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
  std::vector<Symbol> symbols_;  // By address.
  std::string names_;
};

}  // namespace amdahl::observe
