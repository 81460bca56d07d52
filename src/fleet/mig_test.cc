#include "fleet/mig.h"

#include <gtest/gtest.h>

namespace amdahl::fleet {
namespace {

TEST(Mig, AProfileSaysHowMuchOfTheDeviceItIs) {
  struct Case {
    const char* text;
    const char* model;
    double want;
  };
  constexpr Case kCases[] = {
      {"1g.10gb", "", 1.0 / 7},
      {"3g.20gb", "", 3.0 / 7},
      {"7g.80gb", "", 1},
      {"1g.5gb+me", "", 1.0 / 7},
      {"nvidia_a100_2g.10gb", "", 2.0 / 7},
      {"A100_3G.40GB", "", 3.0 / 7},
      {"1g.6gb", "", 1.0 / 4},   // Only an A30 has it.
      {"1g.24gb", "", 1.0 / 7},  // Of an H100 with 96 GB.
      {"1g.24gb", "NVIDIA RTX PRO 6000 Blackwell", 1.0 / 4},
      {"a30_4g.24gb", "", 1},
      {"a100", "", 0},
      {"", "", 0},
      {"8g.80gb", "", 0},
      {"g.10gb", "", 0},
      {"12g.10gb", "", 0},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.text);
    EXPECT_DOUBLE_EQ(mig_share(c.text, c.model), c.want);
  }
}

}  // namespace
}  // namespace amdahl::fleet
