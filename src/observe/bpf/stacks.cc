#include "observe/bpf/stacks.h"

#include <algorithm>

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "os/fd.h"
#include "os/files.h"

namespace amdahl::observe {
namespace {

constexpr std::size_t kMostFrames = 64;
constexpr std::size_t kMostFiles = 512;   // Kept open.
constexpr std::size_t kMostMapped = 512;  // Processes whose maps are kept.
constexpr std::size_t kMostMaps = 20000;  // Some 6 MB.

constexpr std::string_view kKernelsPart = "[vdso]";  // Of every process, the same for all.

// The code that the kernel maps into every process (vDSO) is in no file but ours.
std::optional<ElfFile> kernels_part() {
  const auto text = os::read_file("/proc/self/maps");
  const std::vector<Mapping> maps = text ? parse_maps(*text) : std::vector<Mapping>();
  const auto found = std::ranges::find(maps, kKernelsPart, &Mapping::file);
  if (found == maps.end()) return std::nullopt;
  const os::Fd copy{::memfd_create("vdso", MFD_CLOEXEC)};
  const auto bytes = static_cast<ssize_t>(found->to - found->from);
  const auto* from = reinterpret_cast<const void*>(found->from);
  if (copy.get() < 0 || ::write(copy.get(), from, found->to - found->from) != bytes) {
    return std::nullopt;
  }
  return ElfFile::open(fmt::format("/proc/self/fd/{}", copy.get()));
}

std::optional<std::uint64_t> from_hex(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The next word, and what follows it.
std::string_view word(std::string_view& line) {
  const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t end = std::min(line.find(' ', start), line.size());
  const std::string_view found = line.substr(start, end - start);
  line.remove_prefix(end);
  return found;
}

}  // namespace

std::vector<Mapping> parse_maps(std::string_view text) {
  std::vector<Mapping> found;
  for (std::string_view line : split(text, '\n')) {
    const std::string_view range = word(line);
    const std::string_view rights = word(line);
    const auto offset = from_hex(word(line));
    word(line);  // Device.
    word(line);  // Inode.
    const std::string_view file = trim(line);
    const std::size_t dash = range.find('-');
    if (dash == range.npos || rights.find('x') == rights.npos || !offset) continue;
    const auto from = from_hex(range.substr(0, dash));
    const auto to = from_hex(range.substr(dash + 1));
    if (!from || !to || (!file.starts_with('/') && file != kKernelsPart)) continue;
    found.push_back({*from, *to, *offset, std::string(file)});
  }
  std::ranges::sort(found, {}, &Mapping::from);
  return found;
}

const Mapping* Stacks::find(pid_t process, std::uint64_t instruction) {
  if (maps_.size() >= kMostMapped && !maps_.contains(process)) maps_.clear();
  Maps& maps = maps_[process];
  const auto look = [&]() -> const Mapping* {
    const auto after = std::ranges::upper_bound(maps.mappings, instruction, {}, &Mapping::from);
    if (after == maps.mappings.begin()) return nullptr;
    const Mapping& found = *(after - 1);
    return instruction < found.to ? &found : nullptr;
  };
  const Mapping* found = look();
  if (found || maps.round == round_) return found;
  // A library that was loaded since we last looked.
  maps.round = round_;
  const auto text = os::read_file(fmt::format("{}/{}/maps", proc_root_, process));
  if (!text) return nullptr;
  maps.mappings = parse_maps(*text);
  return look();
}

// Most places have most of their frames in common.
const std::optional<UnwindRow>& Stacks::row_for(const CodeAddress& place) {
  if (rows_known_ >= kMostMaps) {
    rows_.clear();
    rows_known_ = 0;
  }
  rows_.resize(std::max(rows_.size(), files_.size()));
  const auto [row, is_new] = rows_[place.file].try_emplace(place.address);
  if (is_new) {
    row->second = unwind_row(*files_[place.file].elf, place.address);
    ++rows_known_;
  }
  return row->second;
}

std::size_t Stacks::open(pid_t process, const std::string& path) {
  const auto [known, is_new] = file_numbers_.try_emplace(path, files_.size());
  if (!is_new) return known->second;
  File file{path, std::nullopt, std::nullopt};
  if (path == kKernelsPart) {
    file.elf = kernels_part();
  } else if (files_.size() < kMostFiles) {
    // As the process sees it, which may live in another root.
    file.elf = ElfFile::open(fmt::format("{}/{}/root{}", proc_root_, process, path));
    if (!file.elf) file.elf = ElfFile::open(path);
  }
  files_.push_back(std::move(file));
  return known->second;
}

std::vector<Stacks::CodeAddress> Stacks::unwind(pid_t process, const Registers& given,
                                                const StackCopy& stack) {
  std::vector<CodeAddress> places;
  std::optional<Registers> registers = given;
  while (registers && places.size() < kMostFrames) {
    // A return address is that of the next instruction, which may be another function's.
    const std::uint64_t inside = registers->instruction() - (places.empty() ? 0 : 1);
    const Mapping* mapping = find(process, inside);
    if (!mapping) break;
    const std::size_t number = open(process, mapping->file);
    const File& file = files_[number];
    const std::uint64_t offset = inside - mapping->from + mapping->offset;
    const auto address = file.elf ? file.elf->address_of(offset) : std::nullopt;
    places.push_back({number, address.value_or(offset)});
    const std::uint64_t before = registers->stack();
    std::optional<Registers> caller;
    if (address) {
      if (const auto& row = row_for(places.back())) caller = caller_of(*row, *registers, stack);
    }
    if (!caller) caller = caller_by_frame(*registers, stack);
    registers = caller;
    if (registers && registers->stack() <= before) break;
  }
  return places;
}

void Stacks::add(std::uint32_t site, pid_t process, const Registers& registers,
                 const StackCopy& stack) {
  std::vector<CodeAddress> places = unwind(process, registers, stack);
  std::vector<CodeAddress>& known = sites_[site];
  if (places.size() > known.size()) known = std::move(places);
}

const std::vector<model::WaitFrame>& Stacks::named(const CodeAddress& place) {
  const auto [known, is_new] = named_.try_emplace(place);
  if (!is_new) return known->second;
  std::vector<model::WaitFrame>& made = known->second;
  File& file = files_[place.file];
  if (file.elf && !file.lines) file.lines.emplace(*file.elf, file.path);
  if (file.lines) {
    for (SourceLine& line : file.lines->at(place.address)) {
      made.push_back(
          {file.path, place.address, std::move(line.function), std::move(line.file), line.line});
    }
  }
  if (made.empty()) made.push_back({file.path, place.address, "", "", 0});
  // The linker's symbol, distinguished from other instances of the same function.
  std::string symbol = file.elf ? file.elf->symbol(place.address) : std::string();
  if (!symbol.empty()) made.back().symbol = std::move(symbol);
  return made;
}

std::vector<model::WaitFrame> Stacks::frames(const std::vector<CodeAddress>& places) {
  std::vector<model::WaitFrame> frames;
  for (const CodeAddress& place : places) {
    const std::vector<model::WaitFrame>& own = named(place);
    frames.insert(frames.end(), own.begin(), own.end());
  }
  return frames;
}

std::vector<model::WaitFrame> Stacks::frames(std::uint32_t site) {
  const auto known = sites_.find(site);
  return known == sites_.end() ? std::vector<model::WaitFrame>() : frames(known->second);
}

}  // namespace amdahl::observe
