#include "observe/bpf/stacks.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/text.h"
#include "observe/testing.h"

namespace amdahl::observe {

// A stack of our own, with names that the linker keeps.
struct Captured {
  Registers registers;
  std::vector<std::byte> stack;
};

Captured captured_by_inner_function();
Captured captured_by_outer_function();

// The registers as getcontext() leaves them, in DWARF's order, and the stack above them.
__attribute__((noinline)) Captured captured_by_inner_function() {
  Captured made;
#if defined(__x86_64__)
  ucontext_t context;
  ::getcontext(&context);
  constexpr int kOrder[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                            REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                            REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  for (std::size_t i = 0; i < made.registers.values.size(); ++i) {
    made.registers.values[i] = static_cast<std::uint64_t>(context.uc_mcontext.gregs[kOrder[i]]);
  }
  made.stack.resize(4096);
  std::memcpy(made.stack.data(), reinterpret_cast<const void*>(made.registers.stack()),
              made.stack.size());
#endif
  return made;
}

__attribute__((noinline)) Captured captured_by_outer_function() {
  Captured made = captured_by_inner_function();
  made.stack.shrink_to_fit();
  return made;
}

namespace {

std::vector<std::string> names_of(const Captured& captured) {
  Stacks stacks;
  stacks.add(1, ::getpid(), captured.registers, {captured.registers.stack(), captured.stack});
  std::vector<std::string> names;
  for (const model::WaitFrame& frame : stacks.frames(1)) names.push_back(frame.symbol);
  return names;
}

bool has(const std::vector<std::string>& names, std::string_view wanted) {
  return std::ranges::any_of(
      names, [&](const std::string& name) { return name.find(wanted) != name.npos; });
}

TEST(Stacks, OwnStackIsUnwoundAndNamed) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the unwinder knows x86-64 only";
#endif
  const auto names = names_of(captured_by_outer_function());
  EXPECT_TRUE(has(names, "captured_by_inner_function")) << join(names, "\n");
  EXPECT_TRUE(has(names, "captured_by_outer_function")) << join(names, "\n");
  EXPECT_TRUE(has(names, "OwnStackIsUnwoundAndNamed")) << join(names, "\n");
  EXPECT_TRUE(has(names, "testing::")) << join(names, "\n");
}

TEST(Stacks, ACopyThatEndsEarlyGivesTheFramesItHolds) {
  Captured captured = captured_by_outer_function();
  if (captured.stack.empty()) GTEST_SKIP() << "the unwinder knows x86-64 only";
  captured.stack.clear();
  EXPECT_EQ(names_of(captured).size(), 1U);
}

TEST(Stacks, NoSuchProcessIsNoStack) {
  Stacks stacks("/no/such/folder");
  const Captured captured = captured_by_outer_function();
  stacks.add(1, ::getpid(), captured.registers, {captured.registers.stack(), captured.stack});
  EXPECT_TRUE(stacks.frames(1).empty());
  EXPECT_TRUE(stacks.frames(2).empty());
}

TEST(Maps, OnlyCodeOfFilesCounts) {
  const auto maps = parse_maps(
      "7f0000002000-7f0000003000 r-xp 00002000 fe:00 12                 /lib/a b.so\n"
      "7f0000001000-7f0000002000 r--p 00001000 fe:00 12                 /lib/a b.so\n"
      "55d0-55e0 r-xp 00000000 fe:00 9 /bin/job (deleted)\n"
      "7ffd3d5fe000-7ffd3d600000 r-xp 00000000 00:00 0                  [vdso]\n"
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0          [vsyscall]\n"
      "7f0000009000-7f000000a000 r-xp 00000000 00:00 0\n"
      "nonsense\n\n"
      "1-x r-xp 0 0 0 /lib/c.so\n");
  ASSERT_EQ(maps.size(), 3U);
  EXPECT_EQ(maps[0].file, "/bin/job (deleted)");
  EXPECT_EQ(maps[2].file, "[vdso]");
  EXPECT_EQ(maps[1].file, "/lib/a b.so");
  EXPECT_EQ(maps[1].from, 0x7f0000002000U);
  EXPECT_EQ(maps[1].to, 0x7f0000003000U);
  EXPECT_EQ(maps[1].offset, 0x2000U);
}

class ElfTest : public InFolder {};

TEST_F(ElfTest, SymbolsAndBuildIdOfThisProgram) {
  auto file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->build_id().size() % 2, 0U);
  EXPECT_NE(file->unwind_table(), 0U);
  EXPECT_EQ(file->symbol(0), "");
}

TEST_F(ElfTest, WhatIsNoElfFileIsNone) {
  EXPECT_FALSE(ElfFile::open("/no/such/file"));
  EXPECT_FALSE(ElfFile::open("/"));
  write("empty", "");
  EXPECT_FALSE(ElfFile::open(path("empty")));
  write("text", std::string(5000, 'x'));
  EXPECT_FALSE(ElfFile::open(path("text")));
}

// A job may lie in its files: any byte may be anything, and nothing but nonsense may come of it.
TEST_F(ElfTest, AFileThatLiesDoesNoHarm) {
  const std::string whole = *os::read_file(TRUTH_PROGRAM);
  std::mt19937 luck(7);
  for (int round = 0; round < 60; ++round) {
    std::string bytes = whole;
    if (round % 3 == 0) bytes.resize(luck() % bytes.size());
    for (int i = 0; i < 400 && !bytes.empty(); ++i) {
      const std::size_t at = round % 2 == 0 ? luck() % bytes.size()
                                            : luck() % std::min<std::size_t>(bytes.size(), 1024);
      bytes[at] = static_cast<char>(luck());
    }
    write("lie", bytes);
    auto file = ElfFile::open(path("lie"));
    if (!file) continue;
    for (std::uint64_t address = 0x2000; address < 0x5000; address += 16) {
      const auto row = unwind_row(*file, address);
      if (row) caller_of(*row, {}, {});
    }
    file->symbol(luck());
  }
}

}  // namespace
}  // namespace amdahl::observe
