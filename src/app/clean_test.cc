#include "app/clean.h"

#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "app/test_kit.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

using std::chrono::hours;

class CleanTest : public ContextTest {
 protected:
  void SetUp() override { adopt(); }

  void reserve(const std::string& id, int index, const std::string& experiment = "") {
    ASSERT_EQ(say({{"run.reserved",
                    "cycle",
                    id,
                    {{"family", "eval"},
                     {"experiment", experiment},
                     {"purpose", experiment.empty() ? "profile" : "compare"},
                     {"index", index},
                     {"variant_second", false},
                     {"cpus", {0}},
                     {"reserved_accelerator_s", 1.0},
                     {"request", {{"reservation", id}}}}}}),
              "");
    leave("runs/" + id, 64);
  }
  void collect(const std::string& id) {
    ASSERT_EQ(
        say({{"run.submitted", "cycle", id, {{"worker_run_id", "w" + id}}},
             {"run.collected", "cycle", id, {{"spent_accelerator_s", 1.0}, {"fact", nullptr}}}}),
        "");
  }
  void leave(const std::string& folder, std::size_t kilobytes) {
    std::filesystem::create_directories(context_.path(folder));
    ASSERT_TRUE(os::write_file(context_.path(folder + "/log"), std::string(kilobytes * 1024, 'x')));
  }
  // As of the ledger's clock, which stands in the past of the files'.
  void touch(const std::string& path, Nanos ago) {
    const auto at = std::chrono::duration_cast<std::chrono::seconds>(clock_.unix_time() - ago);
    const timespec times[2] = {{at.count(), 0}, {at.count(), 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, context_.path(path).c_str(), times, 0), 0);
  }
  bool there(const std::string& path) { return os::exists(context_.path(path)); }
};

TEST_F(CleanTest, OnlyOldRunsThatNobodyReadsGo) {
  reserve("r-old", 0);
  collect("r-old");
  reserve("r-profile", 1);
  collect("r-profile");
  model::Profile profile;
  profile.id = "r-profile";
  profile.family = "eval";
  ASSERT_EQ(say({{"profile.recorded", "cycle", "eval", encode(profile)}}), "");
  reserve("r-flying", 2);
  model::Hypothesis h;
  h.id = "h-1";
  h.family = "eval";
  h.key = "k";
  h.change.env["A"] = "1";
  model::Experiment x;
  x.id = "x-1";
  x.hypothesis = "h-1";
  x.family = "eval";
  x.campaign = "c1";
  ASSERT_EQ(say({{"hypothesis.proposed", "ada", "h-1", encode(h)},
                 {"experiment.registered", "cycle", "x-1", encode(x)}}),
            "");
  reserve("r-live", 0, "x-1");
  leave("runs/of-somebody", 64);
  clock_.advance(hours(24 * 40));
  reserve("r-new", 3);
  collect("r-new");

  const auto would = clean(context_, {.older_days = 30, .keep_gb = {}, .dry_run = true});
  ASSERT_TRUE(would) << would.error().text;
  EXPECT_EQ(would->parts.at(0).removed, 1);
  EXPECT_TRUE(there("runs/r-old"));
  const auto done = clean(context_, {});
  ASSERT_TRUE(done) << done.error().text;
  EXPECT_EQ(done->parts.at(0).folder, "runs");
  EXPECT_EQ(done->parts.at(0).removed, 1);
  EXPECT_GE(done->parts.at(0).removed_bytes, 64 * 1024);
  EXPECT_EQ(done->parts.at(0).kept, 5);
  EXPECT_FALSE(there("runs/r-old"));
  for (const char* kept : {"r-profile", "r-flying", "r-live", "of-somebody", "r-new"}) {
    EXPECT_TRUE(there(std::string("runs/") + kept)) << kept;
  }
  EXPECT_FALSE(*context_.ledger->lease());
}

TEST_F(CleanTest, TreesAndJobsGoByTheirLastUse) {
  leave("trees/old", 64);
  touch("trees/old", hours(24 * 60));
  ASSERT_TRUE(os::write_file(context_.path("trees/old.ready"), ""));
  leave("trees/used", 64);
  touch("trees/used", hours(24 * 60));
  ASSERT_TRUE(os::write_file(context_.path("trees/used.used"), ""));
  touch("trees/used.used", hours(24));
  for (const char* job : {"jobs/j-old", "jobs/j-new", "jobs/j-running"}) leave(job, 64);
  for (const char* job : {"jobs/j-old", "jobs/j-new"}) {
    ASSERT_TRUE(os::write_file(context_.path(std::string(job) + "/receipt.json"), "{}"));
  }
  touch("jobs/j-old/receipt.json", hours(24 * 60));
  touch("jobs/j-new/receipt.json", hours(24 * 2));
  touch("jobs/j-running", hours(24 * 60));
  ASSERT_TRUE(clean(context_, {}));
  EXPECT_FALSE(there("trees/old"));
  EXPECT_FALSE(there("trees/old.ready"));
  EXPECT_TRUE(there("trees/used"));
  EXPECT_FALSE(there("jobs/j-old"));
  EXPECT_TRUE(there("jobs/j-new"));
  EXPECT_TRUE(there("jobs/j-running"));
  // Of what is left, the oldest go until it fits, but nothing of the last day.
  ASSERT_TRUE(clean(context_, {.older_days = 30, .keep_gb = 0, .dry_run = false}));
  EXPECT_FALSE(there("jobs/j-new"));
  EXPECT_TRUE(there("trees/used"));
}

TEST_F(CleanTest, NotWhileACycleRuns) {
  const auto other = context_.ledger->take_lease("pid 1", "elsewhere", hours(1));
  ASSERT_TRUE(other);
  EXPECT_EQ(clean(context_, {}).error().kind, Error::Kind::kBusy);
}

}  // namespace
}  // namespace amdahl::app
