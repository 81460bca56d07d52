#include "base/shown.h"

#include <gtest/gtest.h>

#include "base/screen.h"

namespace amdahl {
namespace {

// Somebody who reads a diff must read what runs.
TEST(Shown, LetsNoTextReadAsAnother) {
  EXPECT_EQ(plain("if \u202Eroot\u2066 ok"), "if ?root? ok");
  EXPECT_EQ(on_one_line("a\nb\tc\x1b[8m"), "a b c?[8m");
  EXPECT_EQ(harmless("\x1b[31mred\x1b[0m\n\tnext \x1b[1A\x1b[2Kgone\r\n\rover\u202E\x1b[8mhidden"),
            "\x1b[31mred\x1b[0m\n\tnext ?[1A?[2Kgone\r\n?over??[8mhidden");
}

}  // namespace
}  // namespace amdahl
