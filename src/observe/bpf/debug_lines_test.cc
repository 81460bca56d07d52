#include "observe/bpf/debug_lines.h"

#include <cstdlib>
#include <random>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "observe/testing.h"
#include "source_dir.h"

namespace amdahl::observe {
namespace {

constexpr const char* kSource = AMDAHL_SOURCE_DIR "/src/observe/bpf/testdata/truth.cpp";

// The lines of the source that hold a text.
std::set<int> lines_with(std::string_view text) {
  std::set<int> found;
  const std::string source = *os::read_file(kSource);
  int number = 0;
  for (const std::string_view line : split(source, '\n')) {
    ++number;
    if (line.find(text) != line.npos) found.insert(number);
  }
  return found;
}

class DebugLinesTest : public InFolder {
 protected:
  // All that is told of a function with an inlined one in it: the caller's lines, and those inside.
  struct Told {
    std::set<int> calls;
    std::set<int> inside;
  };

  static Told inlined_into(const DebugLines& lines, std::string_view inner,
                           std::string_view outer) {
    Told told;
    auto whole = ElfFile::open(TRUTH_PROGRAM);
    if (!whole) return told;
    for (std::uint64_t address = 0x1000; address < 0x10000; ++address) {
      if (whole->symbol(address).find(outer) == std::string::npos) continue;
      const auto found = lines.at(address);
      for (std::size_t i = 0; i + 1 < found.size(); ++i) {
        if (found[i].function.find(inner) == found[i].function.npos) continue;
        if (found[i + 1].function.find(outer) == found[i + 1].function.npos) continue;
        EXPECT_EQ(found[i].file, kSource);
        EXPECT_EQ(found[i + 1].file, kSource);
        told.inside.insert(found[i].line);
        told.calls.insert(found[i + 1].line);
      }
    }
    return told;
  }

  static void expect_note_wait(const DebugLines& lines) {
    const Told told = inlined_into(lines, "note_wait", "wait_for_item");
    ASSERT_EQ(told.calls.size(), 1U);
    EXPECT_TRUE(lines_with("note_wait(from, shared.at);").contains(*told.calls.begin()));
    const std::set<int> body = lines_with("if (ready > from) waiting += ready - from;");
    for (const int line : told.inside) EXPECT_TRUE(body.contains(line)) << line;
    EXPECT_FALSE(told.inside.empty());
  }

  static bool sh(const std::string& command) { return std::system(command.c_str()) == 0; }
};

TEST_F(DebugLinesTest, LinesOfAProgramWithThoseInlinedIntoThem) {
  const auto file = ElfFile::open(TRUTH_PROGRAM);
  ASSERT_TRUE(file);
  const DebugLines lines(*file, TRUTH_PROGRAM);
  ASSERT_TRUE(lines.is_there());
  expect_note_wait(lines);
  EXPECT_TRUE(lines.at(0).empty());
  EXPECT_TRUE(lines.at(UINT64_MAX).empty());
}

TEST_F(DebugLinesTest, AStrippedProgramHasThemByItsBuildIdOrByName) {
  if (!sh("objcopy --version > /dev/null 2>&1")) GTEST_SKIP() << "there is no objcopy";
  const auto whole = ElfFile::open(TRUTH_PROGRAM);
  ASSERT_TRUE(whole);
  const std::string id = whole->build_id();
  ASSERT_GT(id.size(), 2U) << "the linker gave it no build id";
  const std::string debug = path("debug/.build-id/" + id.substr(0, 2));
  const std::string split_off = debug + "/" + id.substr(2) + ".debug";
  ASSERT_TRUE(
      sh(fmt::format("mkdir -p {} && objcopy --only-keep-debug {} {} && "
                     "objcopy --strip-all {} {}/bare",
                     debug, TRUTH_PROGRAM, split_off, TRUTH_PROGRAM, folder_)));
  const auto bare = ElfFile::open(path("bare"));
  ASSERT_TRUE(bare);
  EXPECT_FALSE(DebugLines(*bare, path("bare"), path("none")).is_there());
  expect_note_wait(DebugLines(*bare, path("bare"), path("debug")));

  ASSERT_TRUE(
      sh(fmt::format("cp {} {}/named.debug && objcopy --add-gnu-debuglink={}/named.debug "
                     "{}/bare {}/named",
                     split_off, folder_, folder_, folder_, folder_)));
  const auto named = ElfFile::open(path("named"));
  ASSERT_TRUE(named);
  expect_note_wait(DebugLines(*named, path("named"), path("none")));
}

// A job may lie in its files.
TEST_F(DebugLinesTest, DebugInformationThatLiesDoesNoHarm) {
  const std::string whole = *os::read_file(TRUTH_PROGRAM);
  std::mt19937 luck(11);
  for (int round = 0; round < 30; ++round) {
    std::string bytes = whole;
    if (round % 3 == 0) bytes.resize(luck() % bytes.size());
    for (int i = 0; i < 200 && !bytes.empty(); ++i) {
      bytes[luck() % bytes.size()] = static_cast<char>(luck());
    }
    write("lie", bytes);
    const auto file = ElfFile::open(path("lie"));
    if (!file) continue;
    const DebugLines lines(*file, path("lie"), path("none"));
    for (std::uint64_t address = 0x2000; address < 0x6000; address += 64) (void)lines.at(address);
  }
}

}  // namespace
}  // namespace amdahl::observe
