#include "fleet/slurm/jobstats.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "fleet/feed.h"
#include "fleet/slurm/slurm.h"

namespace amdahl::fleet::slurm {
namespace {

// Two hosts with 80, 40, 0 and 20 %, packed as jobstats does it.
const std::string kSummary =
    "JS1:"
    "H4sIAAAAAAACA6tWystPSS1WsqpWyjMEkckFpUCehY5SekFpfGlJZk5mVWJJZn4eSM4AKGGgZ6CjBFRp"
    "AmTU1uoo5RmBZLArhqk1AqoEKi3JL0nMiS/JzE1VsjI2MzCoBQA6bV6ifQAAAA==";
// One host without accelerators.
const std::string kNone =
    "JS1:"
    "H4sIAAAAAAACA6tWystPSS1WslKoVsozBFPJBaUgvkVtbS0ARDZFSx4AAAA=";

TEST(Jobstats, MeanOfASummary) {
  ASSERT_TRUE(mean_of_summary(kSummary));
  EXPECT_DOUBLE_EQ(*mean_of_summary(kSummary), 0.35);
  EXPECT_DOUBLE_EQ(*mean_of_summary("{\"a\": 1};" + kSummary), 0.35);
  for (const std::string& other :
       {kNone, std::string(), std::string("JS1:Short"), std::string("JS1:None"),
        kSummary.substr(0, 40), kSummary.substr(0, 90), std::string("a note")}) {
    EXPECT_FALSE(mean_of_summary(other)) << other;
  }
}

TEST(Jobstats, IsReadFromAccounting) {
  const std::string table =
      "JobID|Start|End|AllocTRES|AdminComment\n1|1700000000|1700003600|gres/gpu=4|" + kSummary +
      "\n2|1700000000|1700003600|gres/gpu=4|JS1:Short\n";
  for (const int threads : {1, 3}) {
    const Fed fed = feed(make, table, {.threads = threads});
    EXPECT_EQ(fed.error, "");
    ASSERT_EQ(fed.told.jobs.size(), 2U);
    EXPECT_DOUBLE_EQ(fed.told.jobs[0].draft.mean_utilisation, 0.35);
    EXPECT_EQ(fed.told.jobs[0].metric, "nvidia_gpu_duty_cycle");
    EXPECT_TRUE(std::isnan(fed.told.jobs[1].draft.mean_utilisation));
  }
}

}  // namespace
}  // namespace amdahl::fleet::slurm
