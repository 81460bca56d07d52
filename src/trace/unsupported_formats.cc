#include "trace/unsupported_formats.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "base/text.h"

namespace amdahl::trace {
namespace {

using std::string_view_literals::operator""sv;

struct UnsupportedFormat {
  std::string_view magic;
  std::size_t at;  // Offset of the magic; kAnywhere: anywhere in the first kNear bytes.
  std::string_view is;
  std::string_view type;
};
constexpr std::size_t kAnywhere = ~std::size_t{0};
constexpr std::size_t kNear = 4096;

// The first match counts.
constexpr auto kUnsupportedFormats = std::to_array<UnsupportedFormat>({
    {"NVIDIA Tegra Profiler Report"sv, 0, "a report of Nsight Systems",
     "nsys export --type sqlite FILE"},
    {"NVR\0"sv, 0, "a report of Nsight Compute", "ncu --import FILE --csv > FILE.csv"},
    {"PERFILE2"sv, 0, "a recording of perf", "perf script -i FILE > FILE.txt"},
    {"version https://git-lfs"sv, 0, "a Git LFS pointer, not the file itself", "git lfs pull"},
    {"PK\x03\x04"sv, 0, "a zip archive", "unzip FILE"},
    {"ustar"sv, 257, "a tar archive", "tar -xf FILE"},
    {"\xFD"
     "7zXZ\0"sv,
     0, "packed by xz", "xz -d FILE"},
    {"BZh"sv, 0, "packed by bzip2", "bzip2 -d FILE"},
    {"\x04\x22\x4D\x18"sv, 0, "packed by lz4", "lz4 -d FILE"},
    {"\x89HDF\r\n"sv, 0, "an HDF5 export", "nsys export --type sqlite REPORT.nsys-rep"},
    {"ARROW1\0\0"sv, 0, "an Arrow export", "nsys export --type sqlite REPORT.nsys-rep"},
    {"PAR1"sv, 0, "a Parquet export", "nsys export --type sqlite REPORT.nsys-rep"},
    {"\x80\x02"sv, 0, "a Python pickle, such as a memory snapshot, without a timeline",
     "prof.export_chrome_trace(\"trace.json\")"},
    {"\x80\x04"sv, 0, "a Python pickle, such as a memory snapshot, without a timeline",
     "prof.export_chrome_trace(\"trace.json\")"},
    {"\xFF\xFE"sv, 0, "text in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE > FILE.utf8"},
    {"\xFE\xFF"sv, 0, "text in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE > FILE.utf8"},
    {"\x7F"
     "ELF"sv,
     0, "a program", "amdahl profile -- FILE"},
    {"<!DOCTYPE"sv, 0, "an HTML page", "download the file itself"},
    {"<html"sv, 0, "an HTML page", "download the file itself"},
    {"speedscope.app/file-format-schema"sv, kAnywhere,
     "a speedscope profile, without device events", "amdahl profile -- COMMAND"},
    {"-chakra."sv, kAnywhere, "an execution trace, without times",
     "prof.export_chrome_trace(\"trace.json\")"},
    {"\"schema\": \"1.0"sv, kAnywhere, "an execution trace, without times",
     "prof.export_chrome_trace(\"trace.json\")"},
    {"[[-1, "sv, 0, "a memory timeline of PyTorch, without device events",
     "prof.export_chrome_trace(\"trace.json\")"},
    {"\"rocprofiler-sdk-tool\""sv, kAnywhere, "rocprofv3 JSON, which is not supported",
     "rocprofv3 --sys-trace --output-format rocpd -- COMMAND, which writes a results.db, or in "
     "PyTorch prof.export_chrome_trace(\"trace.json\")"},
    {"Time (%)"sv, kAnywhere, "an nsys stats summary, without a timeline",
     "nsys export --type sqlite REPORT.nsys-rep"},
    {"JobID"sv, kAnywhere, "a table of jobs", "amdahl scan FILE"},
    {"\x0A"sv, 0, "protocol buffer data, perhaps a Perfetto trace",
     "traceconv json FILE FILE.json"},
});

bool matches(const UnsupportedFormat& row, std::string_view head) {
  if (row.at == kAnywhere) return head.substr(0, kNear).find(row.magic) != head.npos;
  return head.size() >= row.at && head.substr(row.at).starts_with(row.magic);
}

// Text that starts with a newline is not a protocol buffer.
bool is_text(std::string_view head) {
  return std::ranges::none_of(head.substr(0, kNear), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
  });
}

}  // namespace

std::string describe_unsupported(std::string_view head) {
  const bool text = is_text(head);
  for (const UnsupportedFormat& row : kUnsupportedFormats) {
    if (row.magic == "\x0A"sv && text) continue;
    if (matches(row, head)) return fmt::format("is {}; run: {}", row.is, row.type);
  }
  return "";
}

}  // namespace amdahl::trace
