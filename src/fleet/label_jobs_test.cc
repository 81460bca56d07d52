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
  labels.tell_jobs(told);
  ASSERT_EQ(told.jobs.size(), 1U);
  EXPECT_EQ(told.jobs[0].id, "77");
  EXPECT_EQ(told.jobs[0].user, "ada");
  EXPECT_EQ(told.jobs[0].hosts, "n1,n2");
  EXPECT_EQ(told.jobs[0].draft.accelerators, 2);
  EXPECT_EQ(told.jobs[0].draft.start, seconds(70));
  EXPECT_EQ(told.jobs[0].draft.end, seconds(190));
  EXPECT_EQ(told.jobs[0].draft.state, model::JobState::kOther);
}

// One accelerator under two names is one; where it is, its unlabelled samples are the job's, too.
TEST(LabelJobs, NamesLeadToOneAcceleratorEach) {
  LabelJobs labels;
  const SeriesId by_uuid = labels.series({"n1", "", "GPU-a", "", "7", "M", ""});
  const SeriesId by_index = labels.series({"n1", "3", "", "", "7", "N", ""});
  labels.tell(Device{.host = "n1", .accelerator = "3", .uuid = "GPU-a"});
  labels.series({"n1", "4", "", "", "0", "M", ""});  // Nobody's.
  const Sample some[] = {{seconds(100), 5}, {seconds(130), 5}};
  labels.samples(by_uuid, some);
  labels.samples(by_index, some);
  Recorder told;
  labels.tell_jobs(told);
  ASSERT_EQ(told.jobs.size(), 1U);
  EXPECT_EQ(told.jobs[0].draft.accelerators, 1);
  EXPECT_EQ(told.places, std::vector<std::string>{"7 n1 3"});
}

TEST(LabelJobs, SlicesAreTheirShare) {
  LabelJobs labels;
  const Sample some[] = {{seconds(100), 5}, {seconds(130), 5}};
  const auto see = [&](const char* slice, const char* job, const char* profile) {
    labels.samples(labels.series({"n1", "0", "GPU-a", slice, job, "M", "A100", profile}), some);
  };
  see("1", "7", "3g.20gb");
  see("", "7", "");  // The device as a whole is not counted beside its slices.
  see("2", "8", "");
  see("3", "8", "");
  see("2", "9", "");
  Recorder told;
  labels.tell_jobs(told);
  ASSERT_EQ(told.jobs.size(), 3U);
  EXPECT_DOUBLE_EQ(told.jobs[0].draft.accelerators, 3.0 / 7);
  EXPECT_DOUBLE_EQ(told.jobs[1].draft.accelerators, 2.0 / 3) << "three slices, not said how large";
  EXPECT_DOUBLE_EQ(told.jobs[2].draft.accelerators, 1.0 / 3);
  EXPECT_TRUE(told.places.empty());
}

// One sample of 1970, or of a clock that is years ahead, made a job of centuries.
TEST(LabelJobs, ClocksThatWereNotSetMakeNoJobLonger) {
  constexpr seconds kNow{1'700'000'000};
  LabelJobs labels;
  const SeriesId a = labels.series({"n1", "0", "", "", "7", "M", ""});
  const SeriesId b = labels.series({"n2", "0", "", "", "8", "M", ""});
  for (int i = 0; i < 300; ++i) {
    const Sample sample{kNow - seconds(100'000 - i * 60), 50};
    labels.samples(a, {&sample, 1});
  }
  const Sample odd[] = {{seconds(60), 50}, {kNow + seconds(900'000'000), 50}};
  labels.samples(a, odd);
  labels.samples(b, odd);
  Recorder told;
  labels.tell_jobs(told, kNow);
  ASSERT_EQ(told.jobs.size(), 1U) << "of the second nothing is known";
  EXPECT_EQ(told.jobs[0].draft.start, kNow - seconds(100'000));
  EXPECT_EQ(told.jobs[0].draft.end, kNow - seconds(100'000 - 300 * 60));
}

// Numbers of jobs come again: what nobody saw for a week was nobody's.
TEST(LabelJobs, AnIdThatComesAgainIsAnotherAttempt) {
  constexpr seconds kNow{1'700'000'000};
  LabelJobs labels;
  const SeriesId a = labels.series({"n1", "0", "", "", "7", "M", ""});
  for (const int day : {0, 10}) {
    for (int i = 0; i < 3; ++i) {
      const Sample sample{kNow + seconds(day * 86'400 + i * 60), 50};
      labels.samples(a, {&sample, 1});
    }
  }
  Recorder told;
  labels.tell_jobs(told);
  ASSERT_EQ(told.jobs.size(), 2U);
  for (const Recorder::Job& job : told.jobs) {
    EXPECT_EQ(job.draft.end - job.draft.start, seconds(180));
  }
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
