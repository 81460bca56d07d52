#include "launch/marks.h"

#include <gtest/gtest.h>

#include "launch/local/record.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::launch {
namespace {

using namespace std::chrono_literals;

TEST(Marks, ARunIsAbsentAfterTwoLooksOfOneMachineThoughOthersLookedBetween) {
  const local::RunFolder folder{testing::TempDir() + "marks-" + os::random_hex(6)};
  ASSERT_TRUE(os::make_dirs(folder.path));
  ASSERT_TRUE(mark_submitted(folder));
  const auto absent = [&](bool nowhere, Nanos settle) {
    return facts_of(folder, nowhere, settle).long_absent;
  };
  EXPECT_FALSE(absent(true, 0s)) << "the first look";
  EXPECT_FALSE(absent(true, 1h));
  EXPECT_TRUE(absent(true, 0s));
  const std::string mark = folder.path + "/absent";
  const std::string own = *os::read_file(mark);
  ASSERT_TRUE(os::write_file(mark, "another-boot 5\n"));
  EXPECT_FALSE(absent(true, 0s)) << "another machine's clock says nothing here";
  ASSERT_TRUE(os::write_file(mark, own + "another-boot 5\n"));
  EXPECT_TRUE(absent(true, 0s));
  EXPECT_FALSE(absent(false, 0s)) << "it was seen";
  EXPECT_FALSE(absent(true, 0s)) << "and the looks before do not count";
  ASSERT_TRUE(os::write_file(mark, "nonsense\n" + own));
  EXPECT_TRUE(absent(true, 0s));
}

}  // namespace
}  // namespace amdahl::launch
