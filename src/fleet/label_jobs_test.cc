#include "fleet/label_jobs.h"

#include <chrono>

#include <gtest/gtest.h>

#include "fleet/testing.h"

namespace amdahl::fleet {
namespace {

using std::chrono::seconds;

TEST(LabelJobs, AJobIsWhereAndWhenItsLabelWasSeen) {
  LabelJobs labels;
  const SeriesId a = labels.series({"n1", "0", "GPU-a", "", "77", "M", "A100"});
  const SeriesId same = labels.series({"n1", "0", "GPU-a", "", "77", "OTHER", "A100"});
  const SeriesId b = labels.series({"n2", "1", "", "", "77", "M", "A100"});
  const SeriesId free = labels.series({"n2", "2", "", "", "", "M", "A100"});
  model::JobDraft hint;
  hint.id = "77";
  hint.user = "ada";
  labels.job(hint, {});
  const Sample first[] = {{seconds(100), 5}, {seconds(130), 5}, {seconds(160), 5}};
  labels.samples(a, first);
  labels.samples(same, first);
  const Sample second[] = {{seconds(70), 5}, {seconds(400), 5}};
  labels.samples(free, second);
  const SeriesId ids[] = {b, free};
  labels.rows(ids, second);

  Recorder told;
  labels.tell(told);
  ASSERT_EQ(told.jobs.size(), 1U);
  EXPECT_EQ(told.jobs[0].id, "77");
  EXPECT_EQ(told.jobs[0].user, "ada");
  EXPECT_EQ(told.jobs[0].hosts, "n1,n2");
  EXPECT_EQ(told.jobs[0].draft.accelerators, 2);
  EXPECT_EQ(told.jobs[0].draft.start, seconds(70));
  EXPECT_EQ(told.jobs[0].draft.end, seconds(190));
  EXPECT_EQ(told.jobs[0].draft.state, model::JobState::kOther);
}

TEST(LabelJobs, HintsAreNotPassedOn) {
  Recorder told;
  WithoutHints sieve(told);
  model::JobDraft job;
  job.id = "1";
  job.user = "ada";
  sieve.job(job, {});
  job.accelerators = 1;
  sieve.job(job, {});
  EXPECT_EQ(told.jobs.size(), 1U);
}

}  // namespace
}  // namespace amdahl::fleet
