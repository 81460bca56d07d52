#include "observe/bpf/python_lines.h"

#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "observe/bpf/python.h"
#include "observe/testing.h"

namespace amdahl::observe {
namespace {

// The tables that each version made of one function, and the line of each instruction as its own
// co_lines() tells them; 0: none.
//    1 def f(items,            5     for item in items:       9         if total > 10:
//    2       size):            6         total += max(       10             raise ValueError(
//    3     total = 0           7             item,           11                 "no")
//    4                         8             size)           12     return total
struct Table {
  std::uint32_t version;
  int first_line;
  std::vector<std::uint8_t> bytes;
  std::vector<int> lines;
};

// clang-format off
const Table kTables[] = {
    {0x0309, 1, {0x00, 0x02, 0x04, 0x02, 0x08, 0x01, 0x04, 0x01, 0x02, 0x01, 0x02, 0xfe, 0x06,
     0x03, 0x08, 0x01, 0x02, 0x01, 0x02, 0xff, 0x06, 0x02},
     {3, 3, 5, 5, 5, 5, 6, 6, 7, 8, 6, 6, 6, 9, 9, 9, 9, 10, 11, 10, 10, 10, 12, 12}},
    {0x030a, 1, {0x04, 0x02, 0x08, 0x02, 0x04, 0x01, 0x02, 0x01, 0x02, 0x01, 0x06, 0xfe, 0x08,
     0x03, 0x02, 0x01, 0x02, 0x01, 0x04, 0xff, 0x02, 0xff, 0x04, 0x03},
     {3, 3, 5, 5, 5, 5, 6, 6, 7, 8, 6, 6, 6, 9, 9, 9, 9, 10, 11, 10, 10, 9, 12, 12}},
    {0x030b, 1, {0x80, 0x00, 0xe0, 0x0c, 0x0d, 0x80, 0x45, 0xe0, 0x10, 0x15, 0xf0, 0x00, 0x06,
     0x05, 0x16, 0xf0, 0x00, 0x06, 0x05, 0x16, 0x88, 0x04, 0xd8, 0x08, 0x0d, 0x95, 0x13, 0xd8,
     0x0c, 0x10, 0xd8, 0x0c, 0x10, 0xf1, 0x05, 0x02, 0x12, 0x12, 0xf4, 0x00, 0x02, 0x12, 0x12,
     0xf1, 0x00, 0x02, 0x09, 0x12, 0x88, 0x05, 0xf0, 0x06, 0x00, 0x0c, 0x11, 0x90, 0x32, 0x8a,
     0x3a, 0x88, 0x3a, 0xdd, 0x12, 0x1c, 0xd8, 0x10, 0x14, 0xf1, 0x03, 0x01, 0x13, 0x16, 0xf4,
     0x00, 0x01, 0x13, 0x16, 0xf0, 0x00, 0x01, 0x0d, 0x16, 0xf0, 0x03, 0x00, 0x0c, 0x16, 0xf0,
     0x06, 0x00, 0x0c, 0x11, 0x80, 0x4c},
     {1, 3, 3, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 9, 9, 9, 9,
     9, 9, 10, 10, 10, 10, 10, 10, 11, 10, 10, 10, 10, 10, 10, 10, 10, 9, 12, 12}},
    {0x030c, 1, {0x80, 0x00, 0xe0, 0x0c, 0x0d, 0x80, 0x45, 0xe0, 0x10, 0x15, 0xf2, 0x00, 0x06,
     0x05, 0x16, 0x88, 0x04, 0xd8, 0x08, 0x0d, 0x94, 0x13, 0xd8, 0x0c, 0x10, 0xd8, 0x0c, 0x10,
     0xf3, 0x05, 0x02, 0x12, 0x12, 0xf1, 0x00, 0x02, 0x09, 0x12, 0x88, 0x05, 0xf0, 0x06, 0x00,
     0x0c, 0x11, 0x90, 0x32, 0x8b, 0x3a, 0xdc, 0x12, 0x1c, 0xd8, 0x10, 0x14, 0xf3, 0x03, 0x01,
     0x13, 0x16, 0xf0, 0x00, 0x01, 0x0d, 0x16, 0xf0, 0x0b, 0x06, 0x05, 0x16, 0xf0, 0x0e, 0x00,
     0x0c, 0x11, 0x80, 0x4c},
     {1, 3, 3, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 7, 8, 6, 6, 6, 6, 6, 6, 6, 9, 9, 9, 9, 9, 9, 10,
     10, 10, 10, 10, 11, 10, 10, 10, 10, 10, 5, 12, 12}},
    {0x030d, 1, {0x80, 0x00, 0xe0, 0x0c, 0x0d, 0x80, 0x45, 0xe3, 0x10, 0x15, 0x88, 0x04, 0xd8,
     0x08, 0x0d, 0x94, 0x13, 0xd8, 0x0c, 0x10, 0xd8, 0x0c, 0x10, 0xf3, 0x05, 0x02, 0x12, 0x12,
     0xf1, 0x00, 0x02, 0x09, 0x12, 0x88, 0x05, 0xf0, 0x06, 0x00, 0x0c, 0x11, 0x90, 0x32, 0x8d,
     0x3a, 0xdc, 0x12, 0x1c, 0xd8, 0x10, 0x14, 0xf3, 0x03, 0x01, 0x13, 0x16, 0xf0, 0x00, 0x01,
     0x0d, 0x16, 0xf1, 0x0b, 0x00, 0x11, 0x16, 0xf0, 0x0e, 0x00, 0x0c, 0x11, 0x80, 0x4c},
     {1, 3, 3, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 7, 8, 6, 6, 6, 6, 6, 6, 6, 9, 9, 9, 9, 9, 9, 9,
     9, 10, 10, 10, 10, 10, 11, 10, 10, 10, 10, 10, 5, 5, 12, 12}},
};
// clang-format on

TEST(PythonLines, EveryVersionsTableIsReadAsItReadsItItself) {
  for (const Table& table : kTables) {
    SCOPED_TRACE(fmt::format("{:#x}", table.version));
    for (std::size_t i = 0; i < table.lines.size(); ++i) {
      // 3.10 counts instructions, the others bytes.
      const auto at = static_cast<std::int32_t>(table.version == 0x030A ? i : 2 * i);
      EXPECT_EQ(python_line(table.version, table.first_line, table.bytes, at).value_or(0),
                table.lines[i])
          << "instruction " << i;
    }
  }
}

TEST(PythonLines, ATableThatIsCutOrNonsenseDoesNoHarm) {
  for (const Table& table : kTables) {
    std::vector<std::uint8_t> bytes = table.bytes;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      (void)python_line(table.version, 1, std::span(bytes).first(size), 1 << 20);
      bytes[size] = static_cast<std::uint8_t>(~bytes[size]);
      (void)python_line(table.version, 1, bytes, 1 << 20);
      (void)python_line(table.version, 1, bytes, -4);
    }
  }
}

TEST(PythonLines, TextsOfEveryWidthAreUtf8) {
  struct Case {
    std::string_view name;
    waits_python_text head;
    std::vector<std::uint8_t> bytes;
    std::string want;
  };
  const Case kCases[] = {
      {"ascii", {3, 1U << 6U | 1U << 2U, 0}, {'a', 'b', 'c', 'd'}, "abc"},
      {"one byte", {2, 1U << 2U, 0}, {'a', 0xE9}, "aé"},
      {"two bytes", {2, 2U << 2U, 0}, {'a', 0, 0xAC, 0x20}, "a€"},
      {"four bytes", {1, 4U << 2U, 0}, {0x00, 0xF6, 0x01, 0x00}, "😀"},
      {"half a pair", {1, 2U << 2U, 0}, {0x00, 0xD8}, "\uFFFD"},
      {"its end", {9, 1U << 6U | 1U << 2U, 0}, {'x', '.', 'p', 'y'}, "…x.py"},
      {"nonsense", {3, 0, 0}, {'a', 'b', 'c'}, ""},
  };
  for (const Case& c : kCases) EXPECT_EQ(python_text(c.head, c.bytes), c.want) << c.name;
}

TEST(Python, TheInterpreterOfAProcessIsFoundAndOthersAreNone) {
  EXPECT_FALSE(find_python(::getpid()));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execl("/usr/bin/python3", "python3", "-c",
            "import sys, time; print(sys.version_info[1], flush=True); time.sleep(60)", nullptr);
    ::_exit(1);
  }
  ::close(ends[1]);
  char text[8] = {};
  const ssize_t got = ::read(ends[0], text, sizeof(text) - 1);
  const auto found = find_python(child);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  if (got <= 0) GTEST_SKIP() << "there is no /usr/bin/python3";
  const int minor = std::atoi(text);
  if (minor < 9 || minor > 13) {
    EXPECT_FALSE(found) << "nothing is known of 3." << minor;
    return;
  }
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, 0x0300 + minor);
  EXPECT_NE(found->runtime, 0U);
}

}  // namespace
}  // namespace amdahl::observe
