#include "observe/bpf/debug_lines.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <span>

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <libelf.h>
#include <unistd.h>

#include "os/fd.h"

namespace amdahl::observe {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
struct EndDwarf {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};
struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

std::string folder_of(const std::string& path) {
  return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

// Both names of a function may be in its abstract origin.
std::string name_of(Dwarf_Die& die) {
  for (const unsigned which : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute attribute{};
    const char* name = dwarf_formstring(dwarf_attr_integrate(&die, which, &attribute));
    if (!name) continue;
    int status = -1;
    const std::unique_ptr<char, Free> text{abi::__cxa_demangle(name, nullptr, nullptr, &status)};
    return status == 0 && text ? text.get() : name;
  }
  const char* name = dwarf_diename(&die);
  return name ? name : "";
}

std::string folder_of(Dwarf_Die& unit) {
  Dwarf_Attribute attribute{};
  const char* folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
  return folder ? folder : "";
}

std::string absolute(const char* file, Dwarf_Die& unit) {
  if (!file) return "";
  if (*file == '/') return file;
  const std::string folder = folder_of(unit);
  return folder.empty() ? file : fmt::format("{}/{}", folder, file);
}

int number_in(Dwarf_Die& die, unsigned which) {
  Dwarf_Attribute attribute{};
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr(&die, which, &attribute), &value) != 0) return 0;
  return static_cast<int>(std::min<Dwarf_Word>(value, INT32_MAX));
}

// The entries around an instruction, innermost first.
class Scopes {
 public:
  Scopes(Dwarf_Die& unit, std::uint64_t address) {
    Dwarf_Die* inner = nullptr;
    const int count = dwarf_getscopes(&unit, address, &inner);
    const std::unique_ptr<Dwarf_Die, Free> kept{inner};
    if (count <= 0) return;
    // For an inlined function these would be the scopes in which it was written, not those it was
    // inlined into.
    Dwarf_Die* outer = nullptr;
    count_ = std::max(0, dwarf_getscopes_die(&inner[0], &outer));
    scopes_.reset(outer);
  }
  std::span<Dwarf_Die> all() const { return {scopes_.get(), static_cast<std::size_t>(count_)}; }

 private:
  std::unique_ptr<Dwarf_Die, Free> scopes_;
  int count_ = 0;
};

// Where the call stood that became an inlined function.
SourceLine call_of(Dwarf_Die& inlined, Dwarf_Die& unit) {
  SourceLine made;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  const int file = number_in(inlined, DW_AT_call_file);
  if (dwarf_getsrcfiles(&unit, &files, &count) == 0 && static_cast<std::size_t>(file) < count) {
    made.file =
        absolute(dwarf_filesrc(files, static_cast<std::size_t>(file), nullptr, nullptr), unit);
  }
  made.line = number_in(inlined, DW_AT_call_line);
  return made;
}

}  // namespace

struct DebugLines::Opened {
  os::Fd file{-1};
  std::unique_ptr<Elf, EndElf> elf;
  std::unique_ptr<Dwarf, EndDwarf> dwarf;

  // Nothing if the file holds no lines.
  static std::unique_ptr<Opened> of(int fd) {
    if (fd < 0) return nullptr;
    auto made = std::make_unique<Opened>();
    made->file = os::Fd{fd};
    elf_version(EV_CURRENT);
    made->elf.reset(elf_begin(fd, ELF_C_READ, nullptr));
    if (!made->elf) return nullptr;
    made->dwarf.reset(dwarf_begin_elf(made->elf.get(), DWARF_C_READ, nullptr));
    Dwarf_Off next = 0;
    std::size_t head = 0;
    const bool has_units = made->dwarf && dwarf_nextcu(made->dwarf.get(), 0, &next, &head, nullptr,
                                                       nullptr, nullptr) == 0;
    return has_units ? std::move(made) : nullptr;
  }
  static std::unique_ptr<Opened> of(const std::string& path) {
    return of(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  }

  // Some compilers leave out the table of units by address.
  std::optional<Dwarf_Die> unit_at(std::uint64_t address) const {
    Dwarf_Die unit{};
    if (dwarf_addrdie(dwarf.get(), address, &unit)) return unit;
    std::size_t head = 0;
    Dwarf_Off next = 0;
    for (Dwarf_Off at = 0;
         dwarf_nextcu(dwarf.get(), at, &next, &head, nullptr, nullptr, nullptr) == 0; at = next) {
      if (dwarf_offdie(dwarf.get(), at + head, &unit) && dwarf_haspc(&unit, address) == 1) {
        return unit;
      }
    }
    return std::nullopt;
  }

  // The debug file that a stripped file names: next to it, in ".debug" there, or in the installed
  // folder.
  static std::unique_ptr<Opened> named(int stripped, const std::string& path,
                                       const std::string& folder) {
    const std::unique_ptr<Elf, EndElf> elf{elf_begin(stripped, ELF_C_READ, nullptr)};
    GElf_Word checksum = 0;
    const char* name = elf ? dwelf_elf_gnu_debuglink(elf.get(), &checksum) : nullptr;
    if (!name || std::string_view(name).find('/') != std::string_view::npos) return nullptr;
    const std::string beside = folder_of(path);
    for (const std::string& place : {beside, beside + "/.debug", folder + beside}) {
      auto found = of(fmt::format("{}/{}", place, name));
      if (found) return found;
    }
    return nullptr;
  }
};

DebugLines::DebugLines(const ElfFile& file, const std::string& path, const std::string& folder) {
  opened_ = Opened::of(::fcntl(file.fd(), F_DUPFD_CLOEXEC, 0));
  const std::string id = file.build_id();
  if (!opened_ && id.size() > 2) {
    opened_ =
        Opened::of(fmt::format("{}/.build-id/{}/{}.debug", folder, id.substr(0, 2), id.substr(2)));
  }
  if (!opened_) opened_ = Opened::named(file.fd(), path, folder);
}

DebugLines::~DebugLines() = default;
DebugLines::DebugLines(DebugLines&&) noexcept = default;
DebugLines& DebugLines::operator=(DebugLines&&) noexcept = default;

std::vector<SourceLine> DebugLines::at(std::uint64_t address) const {
  std::vector<SourceLine> found;
  if (!opened_) return found;
  auto unit = opened_->unit_at(address);
  if (!unit) return found;
  Dwarf_Line* line = dwarf_getsrc_die(&*unit, address);
  int number = 0;
  if (!line || dwarf_lineno(line, &number) != 0 || number <= 0) return found;
  SourceLine now{"", absolute(dwarf_linesrc(line, nullptr, nullptr), *unit), number};
  const Scopes scopes(*unit, address);
  for (Dwarf_Die& scope : scopes.all()) {
    const int tag = dwarf_tag(&scope);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    now.function = name_of(scope);
    found.push_back(now);
    if (tag == DW_TAG_subprogram) return found;
    now = call_of(scope, *unit);
    if (now.line <= 0) return found;
  }
  found.push_back(now);
  return found;
}

}  // namespace amdahl::observe
