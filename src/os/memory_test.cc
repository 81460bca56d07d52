#include "os/memory.h"

#include <gtest/gtest.h>

namespace amdahl::os {
namespace {

TEST(Memory, IsWhatTheKernelSaysIsAvailable) {
  EXPECT_EQ(available_in("MemTotal:       24689856 kB\nMemFree:        21000 kB\n"
                         "MemAvailable:   23068672 kB\nBuffers: 1 kB\n"),
            23068672ULL * 1024);
  EXPECT_EQ(available_in("MemTotal: 1 kB\n"), 0u);
  EXPECT_EQ(available_in("MemAvailable: many kB\n"), 0u);
  EXPECT_EQ(available_in(""), 0u);
  EXPECT_GT(available_memory(), 0u);
}

}  // namespace
}  // namespace amdahl::os
