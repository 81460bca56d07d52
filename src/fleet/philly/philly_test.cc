#include "fleet/philly/philly.h"

#include <gtest/gtest.h>

#include "fleet/feed.h"

namespace amdahl::fleet::philly {
namespace {

using model::JobState;
using model::Trouble;
using std::chrono::seconds;

constexpr std::string_view kLog = R"([
 {"status": "Pass", "vc": "ee9e8c", "jobid": "application_1_7", "user": "ce2f4c",
  "submitted_time": "2017-10-07 01:11:39",
  "attempts": [
   {"start_time": "2017-10-07 01:12:09", "end_time": "2017-10-07 01:13:23",
    "detail": [{"ip": "m47", "gpus": ["gpu0", "gpu1"]}]},
   {"start_time": "2017-10-07 01:13:30", "end_time": "2017-10-07 02:13:30",
    "detail": [{"ip": "m41", "gpus": ["gpu3"]}, {"ip": "m47", "gpus": ["gpu2"]}]}]},
 {"status": "Killed", "vc": "x", "jobid": "application_1_8", "attempts": [],
  "submitted_time": "2017-10-07 01:11:39", "user": "u"},
 {"status": "Failed", "vc": "x", "jobid": "application_1_9", "user": "u",
  "submitted_time": "2017-10-07 01:11:39",
  "attempts": [{"start_time": "2017-10-07 01:12:09", "end_time": null,
                "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]},
 {"status": "Pass", "vc": "x", "user": "u", "attempts": []},
 {"status": "Pass", "vc": "x", "jobid": "bad", "submitted_time": "once", "attempts": []}
])";

TEST(Philly, AttemptsAreJobsWithTheirAccelerators) {
  ASSERT_TRUE(claims(kLog.substr(0, 400)));
  EXPECT_EQ(sources().claiming(kLog)->name, "philly");
  for (const std::size_t piece : {std::string_view::npos, std::size_t{1}}) {
    const Fed fed = feed(make, kLog, {}, piece);
    EXPECT_EQ(fed.error, "");
    ASSERT_EQ(fed.told.jobs.size(), 4U);
    const auto& first = fed.told.jobs[0];
    EXPECT_EQ(first.id + " " + first.user + " " + first.account + " " + first.hosts,
              "application_1_7#1 ce2f4c ee9e8c m47");
    EXPECT_EQ(first.draft.submit, seconds(1507363899));  // 01:11:39 in summer on the Pacific coast.
    EXPECT_EQ(first.draft.end - first.draft.start, seconds(74));
    EXPECT_EQ(first.draft.state, JobState::kOther);
    const auto& last = fed.told.jobs[1];
    EXPECT_EQ(last.id, "application_1_7");
    EXPECT_EQ(last.hosts, "m41,m47");
    EXPECT_EQ(last.draft.state, JobState::kCompleted);
    EXPECT_EQ(last.draft.submit, first.draft.end);  // It waited from then on.
    EXPECT_EQ(last.draft.accelerators, 2);
    EXPECT_EQ(fed.told.places,
              (std::vector<std::string>{"application_1_7#1 m47 0", "application_1_7#1 m47 1",
                                        "application_1_7 m41 3", "application_1_7 m47 2",
                                        "application_1_9 m1 0"}));
    EXPECT_EQ(fed.told.jobs[2].draft.start, Nanos{});
    EXPECT_EQ(fed.told.jobs[3].draft.state, JobState::kRunning);
    EXPECT_EQ(fed.told.count(Trouble::kBadLine), 1U);
    EXPECT_EQ(fed.told.count(Trouble::kBadTime), 1U);
  }
  const Fed utc = feed(make, kLog, {.time_zone = "UTC"});
  EXPECT_EQ(utc.told.jobs.at(0).draft.submit, seconds(1507338699));
  EXPECT_EQ(feed(make, kLog.substr(0, 700)).told.count(Trouble::kTruncated), 1U);
}

}  // namespace
}  // namespace amdahl::fleet::philly
