#include "trace/unsupported_formats.h"

#include <string>

#include <gtest/gtest.h>

#include "trace/reader.h"

namespace amdahl::trace {
namespace {

using std::string_literals::operator""s;

TEST(Strangers, SayWhatTheyAreAndWhatToType) {
  const struct {
    std::string head;
    const char* want;
  } cases[] = {
      {"NVIDIA Tegra Profiler Report 2025@6@1@190-256136895201v0.\1\2"s,
       "is a report of Nsight Systems; run: nsys export --type sqlite FILE"},
      {"NVR\0\x08\0\0\0"s,
       "is a report of Nsight Compute; run: ncu --import FILE --csv > FILE.csv"},
      {"PERFILE2h\0\0\0"s, "is a recording of perf; run: perf script -i FILE > FILE.txt"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n"s,
       "is a Git LFS pointer, not the file itself; run: git lfs pull"},
      {"PK\3\4\x14\0"s, "is a zip archive; run: unzip FILE"},
      {std::string(257, 'a') + "ustar\0"s, "is a tar archive; run: tar -xf FILE"},
      {"\xFF\xFE{\0\"\0"s, "is text in UTF-16; run: iconv -f UTF-16 -t UTF-8 FILE > FILE.utf8"},
      {"{\n \"rocprofiler-sdk-tool\": [\n  {\n   \"metadata\": {"s,
       "is rocprofv3 JSON, which is not supported; run: rocprofv3 --sys-trace "
       "--output-format rocpd -- COMMAND, which writes a results.db, or in PyTorch "
       "prof.export_chrome_trace(\"trace.json\")"},
      {"{\n  \"schema\": \"1.0.1\", \"pid\": 5"s,
       "is an execution trace, without times; run: prof.export_chrome_trace(\"trace.json\")"},
      {"[[-1, 1, 37888, 7], [-1, 1"s,
       "is a memory timeline of PyTorch, without device events; run: "
       "prof.export_chrome_trace(\"trace.json\")"},
      {"JobID|User|State\n1|ada|COMPLETED\n"s, "is a table of jobs; run: amdahl scan FILE"},
      {"\nsome text\n"s,
       "has an unknown format (starts with ' some text '); known formats: bpf, kineto, ncu, nsys, "
       "operations, perf, rocpd, xplane"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.want);
    const auto found = reader_for(c.head);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().text, c.want);
    EXPECT_EQ(found.error().kind, Error::Kind::kUnsupported);
  }
}

}  // namespace
}  // namespace amdahl::trace
