#include "observe/bpf/python.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/core.h>

#include "base/text.h"
#include "observe/bpf/stacks.h"
#include "os/files.h"

namespace amdahl::observe {
namespace {

// For 64-bit release builds, from the headers of each version. Fixed within a version, except
// 3.13, which publishes the offsets of its larger structures itself.
constexpr auto kLayouts = std::to_array<waits_python>({
    {.runtime = 0,
     .interpreters = 32,
     .next_interpreter = 0,
     .threads = 8,
     .next_thread = 8,
     .pointer = 176,
     .frame = 24,
     .inner_frame = kNoOffset,
     .previous = 24,
     .code = 32,
     .instruction = 104,
     .owner = kNoOffset,
     .instructions = kNoOffset,
     .file = 104,
     .name = 112,
     .first_line = 40,
     .lines = 120,
     .ascii_bytes = 48,
     .wide_bytes = 72,
     .version = 0x0309,
     .frame_from = 24,
     .frame_bytes = 88},
    {.runtime = 0,
     .interpreters = 32,
     .next_interpreter = 0,
     .threads = 8,
     .next_thread = 8,
     .pointer = 176,
     .frame = 24,
     .inner_frame = kNoOffset,
     .previous = 24,
     .code = 32,
     .instruction = 96,
     .owner = kNoOffset,
     .instructions = kNoOffset,
     .file = 104,
     .name = 112,
     .first_line = 40,
     .lines = 120,
     .ascii_bytes = 48,
     .wide_bytes = 72,
     .version = 0x030A,
     .frame_from = 24,
     .frame_bytes = 80},
    {.runtime = 0,
     .interpreters = 40,
     .next_interpreter = 0,
     .threads = 16,
     .next_thread = 8,
     .pointer = 152,
     .frame = 56,
     .inner_frame = 8,
     .previous = 48,
     .code = 32,
     .instruction = 56,
     .owner = 13,
     .instructions = 184,
     .file = 112,
     .name = 128,
     .first_line = 72,
     .lines = 136,
     .ascii_bytes = 48,
     .wide_bytes = 72,
     .version = 0x030B,
     .frame_from = 32,
     .frame_bytes = 40},
    {.runtime = 0,
     .interpreters = 40,
     .next_interpreter = 0,
     .threads = 72,
     .next_thread = 8,
     .pointer = 136,
     .frame = 56,
     .inner_frame = 0,
     .previous = 8,
     .code = 0,
     .instruction = 56,
     .owner = 14,
     .instructions = 192,
     .file = 112,
     .name = 128,
     .first_line = 68,
     .lines = 136,
     .ascii_bytes = 40,
     .wide_bytes = 56,
     .version = 0x030C,
     .frame_from = 0,
     .frame_bytes = 72},
    {.runtime = 0,
     .interpreters = 632,
     .next_interpreter = 7264,
     .threads = 7344,
     .next_thread = 8,
     .pointer = 152,
     .frame = 72,
     .inner_frame = kNoOffset,
     .previous = 8,
     .code = 0,
     .instruction = 56,
     .owner = 14,
     .instructions = 200,
     .file = 112,
     .name = 128,
     .first_line = 68,
     .lines = 136,
     .ascii_bytes = 40,
     .wide_bytes = 56,
     .version = 0x030D,
     .frame_from = 0,
     .frame_bytes = 72},
});

constexpr bool has_all_of_a_frame(const waits_python& layout) {
  const unsigned end = layout.frame_from + layout.frame_bytes;
  const unsigned owner = layout.instruction + (layout.owner == kNoOffset ? 0U : 8U);
  const auto [first, last] = std::minmax({layout.previous, layout.code, layout.instruction});
  return layout.frame_from == first && end == std::max<unsigned>(last, owner) + 8 &&
         layout.frame_bytes <= kPythonFrameWords * 8;
}
static_assert(std::ranges::all_of(kLayouts, has_all_of_a_frame));

// "python3.9" and "libpython3.10.so.1.0" are 0x0309 and 0x030A.
std::uint16_t version_in(std::string_view name) {
  const std::size_t at = name.find("python3.");
  if (at == name.npos) return 0;
  std::string_view rest = name.substr(at + 8);
  rest = rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size()));
  const auto minor = to_number<unsigned>(rest);
  return minor && *minor < 100 ? static_cast<std::uint16_t>(0x0300U + *minor) : std::uint16_t{0};
}

std::uint16_t version_of(const ElfFile& file, std::string_view name) {
  const auto place = file.exported("Py_Version");  // Since 3.11: 0x030B02F0.
  std::uint32_t version = 0;
  if (place && file.read(*place, std::as_writable_bytes(std::span(&version, 1)))) {
    return static_cast<std::uint16_t>(version >> 16U);
  }
  return version_in(name);
}

// The start of what 3.13 publishes for debuggers.
struct DebugOffsets {
  std::array<char, 8> cookie;
  std::uint64_t version, free_threaded;
  std::uint64_t runtime_bytes, finalizing, interpreters;
  std::uint64_t interpreter_bytes, id, next, threads;
};

// False if its threads run at the same time: then its frames are others.
bool adjust(const ElfFile& file, std::uint64_t state, waits_python& layout) {
  DebugOffsets told{};
  if (!file.read(state, std::as_writable_bytes(std::span(&told, 1)))) return true;
  if (std::memcmp(told.cookie.data(), "xdebugpy", told.cookie.size()) != 0) return true;
  if (told.free_threaded != 0) return false;
  for (const std::uint64_t offset : {told.interpreters, told.next, told.threads}) {
    if (offset >= kNoOffset) return false;
  }
  layout.interpreters = static_cast<std::uint16_t>(told.interpreters);
  layout.next_interpreter = static_cast<std::uint16_t>(told.next);
  layout.threads = static_cast<std::uint16_t>(told.threads);
  return true;
}

}  // namespace

std::optional<waits_python> python_layout(const ElfFile& file, std::uint64_t state,
                                          std::string_view name) {
  const std::uint16_t version = version_of(file, name);
  const auto known = std::ranges::find(kLayouts, version, &waits_python::version);
  if (known == kLayouts.end()) return std::nullopt;
  waits_python layout = *known;
  if (version >= 0x030D && !adjust(file, state, layout)) return std::nullopt;
  return layout;
}

std::optional<waits_python> find_python(pid_t process, const std::string& proc_root) {
  const auto text = os::read_file(fmt::format("{}/{}/maps", proc_root, process));
  if (!text) return std::nullopt;
  for (const Mapping& mapping : parse_maps(*text)) {
    const std::string_view path = mapping.file;
    const std::string_view name = path.substr(path.rfind('/') + 1);
    if (name.find("python") == name.npos) continue;
    const auto file = ElfFile::open(fmt::format("{}/{}/root{}", proc_root, process, path));
    const auto linked = file ? file->address_of(mapping.offset) : std::nullopt;
    const auto state = file ? file->exported("_PyRuntime") : std::nullopt;
    if (!linked || !state) continue;
    auto layout = python_layout(*file, *state, name);
    if (!layout) return std::nullopt;
    layout->runtime = mapping.from - *linked + *state;
    return layout;
  }
  return std::nullopt;
}

}  // namespace amdahl::observe
