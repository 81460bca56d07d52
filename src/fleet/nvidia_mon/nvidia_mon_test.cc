#include "fleet/nvidia_mon/nvidia_mon.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "fleet/feed.h"

namespace amdahl::fleet::nvidia_mon {
namespace {

using model::Trouble;
using std::chrono::seconds;

Fed read(std::string_view bytes) {
  const ReaderOptions options{.path = "logs/gpu007.txt"};
  EXPECT_TRUE(claims(bytes));
  EXPECT_EQ(sources().claiming(bytes)->name, "nvidia-smi-mon");
  Fed whole = feed(make, bytes, options);
  const Fed single = feed(make, bytes, options, 1);
  EXPECT_EQ(whole.error, single.error);
  EXPECT_EQ(whole.told.counts, single.told.counts);
  EXPECT_EQ(whole.told.sample_count(), single.told.sample_count());
  return whole;
}

TEST(NvidiaMon, Dmon) {
  const Fed fed = read(
      "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem\n"
      "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %\n"
      " 20231114   22:13:20      0     70     40      -     83     12\n"
      " 20231114   22:13:20      1     70     40      -      -      -\n"
      "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem\n"
      "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %\n"
      " 20231114   22:13:21      0     70     40      -     17     12\n"
      " 20231114   22:13\n");
  EXPECT_EQ(fed.error, "");
  EXPECT_EQ(join(fed.told.series_names, ", "), "gpu007/0 dmon sm");
  ASSERT_EQ(fed.told.samples_of[0].size(), 2U);
  EXPECT_EQ(fed.told.samples_of[0][0].at, seconds(1700000000));
  EXPECT_EQ(fed.told.samples_of[0][1].value, 17);
  EXPECT_EQ(fed.told.count(Trouble::kBlankValue), 1U);
  EXPECT_EQ(fed.told.count(Trouble::kBadLine), 1U);
}

TEST(NvidiaMon, PmonAddsUpTheProcessesOfAGpu) {
  const Fed fed = read(
      "#Date       Time        gpu        pid  type    sm   mem   enc   dec   command\n"
      "#YYYYMMDD   HH:MM:SS    Idx          #   C/G     %     %     %     %   name\n"
      " 20231114   22:13:20      0       4242     C    40     1     -     -   python train.py\n"
      " 20231114   22:13:20      0       4243     C    35     1     -     -   python\n"
      " 20231114   22:13:20      1          -     -     -     -     -     -   -\n"
      " 20231114   22:13:21      0       4242     C    80     1     -     -   python\n"
      " 20231114   22:13:21      0       4243     C    35     1     -     -   python\n");
  EXPECT_EQ(fed.error, "");
  EXPECT_EQ(join(fed.told.series_names, ", "), "gpu007/0 pmon sm, gpu007/1 pmon sm");
  ASSERT_EQ(fed.told.samples_of[0].size(), 2U);
  EXPECT_EQ(fed.told.samples_of[0][0].value, 75);
  EXPECT_EQ(fed.told.samples_of[0][1].value, 100);
  EXPECT_EQ(fed.told.samples_of[1][0].value, 0);  // No process: idle.
}

TEST(NvidiaMon, CommasAndWhatIsMissing) {
  EXPECT_EQ(read("#Date, Time, gpu, sm, mem\n#YYYYMMDD, HH:MM:SS, Idx, %, %\n"
                 "20231114, 22:13:20, 0, 50, 1\n")
                .told.sample_count(),
            1U);
  EXPECT_EQ(read("# gpu     sm    mem\n# Idx      %      %\n    0     50      1\n").error,
            "line 1: its rows have no date and time; run it with -o DT");
  EXPECT_EQ(read("#Date Time gpu pwr gtemp\n#YYYYMMDD HH:MM:SS Idx W C\n").error,
            "line 1: has no column sm; run dmon with -s u, or pmon with -s u");
}

}  // namespace
}  // namespace amdahl::fleet::nvidia_mon
