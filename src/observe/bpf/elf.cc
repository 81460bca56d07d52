#include "observe/bpf/elf.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <cxxabi.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

namespace amdahl::observe {
namespace {

// Larger than any real library's table: a malformed file.
constexpr std::uint64_t kMostTableBytes = std::uint64_t{512} << 20;
constexpr std::size_t kMostHeaders = 512;
constexpr std::size_t kMostSections = 65536;

template <class T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

std::string demangled(const char* name) {
  int status = -1;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  if (status != 0 || !text) return name;
  std::string result = text;
  std::free(text);
  return result;
}

}  // namespace

std::optional<ElfFile> ElfFile::open(const std::string& path) {
  os::Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (file.get() < 0) return std::nullopt;
  ElfFile made{std::move(file)};
  if (!made.read_segments()) return std::nullopt;
  return made;
}

bool ElfFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  if (offset > static_cast<std::uint64_t>(INT64_MAX) - bytes.size()) return false;
  const ssize_t got = ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  return got >= 0 && static_cast<std::size_t>(got) == bytes.size();
}

bool ElfFile::read_segments() {
  Elf64_Ehdr head{};
  if (!read_at(0, bytes_of(head)) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB) return false;
  if (head.e_phnum > kMostHeaders || head.e_phentsize != sizeof(Elf64_Phdr)) return false;
  std::vector<Elf64_Phdr> headers(head.e_phnum);
  if (!read_at(head.e_phoff, std::as_writable_bytes(std::span(headers)))) return false;
  for (const Elf64_Phdr& header : headers) {
    const Segment segment{header.p_offset, header.p_vaddr, header.p_filesz};
    if (header.p_type == PT_LOAD) segments_.push_back(segment);
    if (header.p_type == PT_GNU_EH_FRAME) unwind_table_ = header.p_vaddr;
    if (header.p_type == PT_NOTE) read_build_id(segment);
  }
  return !segments_.empty();
}

void ElfFile::read_build_id(const Segment& notes) {
  if (!build_id_.empty() || notes.bytes > 65536) return;
  std::vector<std::byte> bytes(notes.bytes);
  if (!read_at(notes.offset, bytes)) return;
  Elf64_Nhdr note{};
  for (std::size_t at = 0; at + sizeof(note) <= bytes.size();) {
    std::memcpy(&note, &bytes[at], sizeof(note));
    const std::size_t name = at + sizeof(note);
    const std::size_t text = name + ((std::uint64_t{note.n_namesz} + 3) & ~std::uint64_t{3});
    const std::size_t end = text + ((std::uint64_t{note.n_descsz} + 3) & ~std::uint64_t{3});
    if (end > bytes.size()) return;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(&bytes[name], "GNU", 4) == 0 && note.n_descsz <= 64) {
      for (std::size_t i = 0; i < note.n_descsz; ++i) {
        build_id_ += fmt::format("{:02x}", static_cast<unsigned>(bytes[text + i]));
      }
      return;
    }
    at = end;
  }
}

std::optional<std::uint64_t> ElfFile::address_of(std::uint64_t file_offset) const {
  for (const Segment& segment : segments_) {
    if (file_offset >= segment.offset && file_offset - segment.offset < segment.bytes) {
      return segment.address + (file_offset - segment.offset);
    }
  }
  return std::nullopt;
}

std::size_t ElfFile::read_some(std::uint64_t address, std::span<std::byte> bytes) const {
  for (const Segment& segment : segments_) {
    if (address < segment.address || address - segment.address >= segment.bytes) continue;
    const std::uint64_t left = segment.bytes - (address - segment.address);
    const auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), left));
    return read_at(segment.offset + (address - segment.address), part) ? part.size() : 0;
  }
  return 0;
}

bool ElfFile::read(std::uint64_t address, std::span<std::byte> bytes) const {
  return read_some(address, bytes) == bytes.size();
}

void ElfFile::read_symbol_table(std::uint64_t table, std::uint64_t table_bytes, std::uint64_t names,
                                std::uint64_t names_bytes) {
  if (table_bytes > kMostTableBytes || names_bytes > kMostTableBytes) return;
  std::vector<Elf64_Sym> rows(table_bytes / sizeof(Elf64_Sym));
  std::string texts(names_bytes, '\0');
  if (!read_at(table, std::as_writable_bytes(std::span(rows)))) return;
  if (!read_at(names, std::as_writable_bytes(std::span(texts)))) return;
  const std::uint64_t base = names_.size();
  for (const Elf64_Sym& row : rows) {
    const unsigned type = ELF64_ST_TYPE(row.st_info);
    const bool is_code = type == STT_FUNC || type == STT_GNU_IFUNC;
    if (!is_code || row.st_shndx == SHN_UNDEF || row.st_name >= names_bytes) continue;
    symbols_.push_back({row.st_value, row.st_size, base + row.st_name});
  }
  names_ += texts;
  names_ += '\0';
}

std::vector<Elf64_Shdr> ElfFile::sections() const {
  Elf64_Ehdr head{};
  if (!read_at(0, bytes_of(head)) || head.e_shentsize != sizeof(Elf64_Shdr)) return {};
  if (head.e_shnum > kMostSections) return {};
  std::vector<Elf64_Shdr> found(head.e_shnum);
  if (!read_at(head.e_shoff, std::as_writable_bytes(std::span(found)))) return {};
  return found;
}

std::optional<std::uint64_t> ElfFile::exported(std::string_view name) const {
  const std::vector<Elf64_Shdr> all = sections();
  const auto table = std::ranges::find(all, SHT_DYNSYM, &Elf64_Shdr::sh_type);
  if (table == all.end() || table->sh_link >= all.size()) return std::nullopt;
  const Elf64_Shdr& names = all[table->sh_link];
  if (table->sh_size > kMostTableBytes || names.sh_size > kMostTableBytes) return std::nullopt;
  std::vector<Elf64_Sym> rows(table->sh_size / sizeof(Elf64_Sym));
  std::string texts(names.sh_size, '\0');
  if (!read_at(table->sh_offset, std::as_writable_bytes(std::span(rows)))) return std::nullopt;
  if (!read_at(names.sh_offset, std::as_writable_bytes(std::span(texts)))) return std::nullopt;
  for (const Elf64_Sym& row : rows) {
    if (row.st_shndx == SHN_UNDEF || row.st_name >= texts.size()) continue;
    if (std::string_view(texts.c_str() + row.st_name) == name) return row.st_value;
  }
  return std::nullopt;
}

void ElfFile::read_symbols() {
  has_symbols_ = true;
  const std::vector<Elf64_Shdr> all = sections();
  for (const Elf64_Shdr& section : all) {
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    if (section.sh_link >= all.size()) continue;
    const Elf64_Shdr& names = all[section.sh_link];
    read_symbol_table(section.sh_offset, section.sh_size, names.sh_offset, names.sh_size);
  }
  std::ranges::stable_sort(symbols_, {}, &Symbol::address);
}

std::string ElfFile::symbol(std::uint64_t address) {
  if (!has_symbols_) read_symbols();
  auto after = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
  // Symbols of one address, and small ones inside others: the nearest that reaches this far.
  for (int tries = 0; tries < 8 && after != symbols_.begin(); ++tries) {
    const Symbol& found = *--after;
    if (address - found.address < std::max<std::uint64_t>(found.bytes, 1)) {
      return demangled(names_.c_str() + found.name);
    }
  }
  return "";
}

}  // namespace amdahl::observe
