// full_disk_test.cc: the state on a real disk that is full for a while: no run is lost or done
// twice, the error says so, and the loop goes on when there is space again.
#include <map>
#include <set>
#include <sstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

constexpr std::size_t kBlock = 4096;

// A disk of a few megabytes for the state. Needs root, and the right to mount.
class FullDisk : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    sandbox_.add_nap_job("0.3");
    sandbox_.write("state/.here", "");
    if (::mount("tmpfs", state_.c_str(), "tmpfs", 0, "size=6m,mode=700") != 0) {
      GTEST_SKIP() << "a small disk cannot be mounted here: " << std::strerror(errno);
    }
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount2(state_.c_str(), MNT_DETACH);
  }

  // Takes all that is left of the disk, but for so many blocks.
  void fill(std::size_t left) const {
    const int file = ::open((state_ + "/fill").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    const std::string block(kBlock, 'x');
    off_t size = 0;
    while (::write(file, block.data(), kBlock) > 0) size += static_cast<off_t>(kBlock);
    ASSERT_GT(size, 0);
    const off_t kept = size - static_cast<off_t>(left * kBlock);
    ASSERT_EQ(::ftruncate(file, std::max<off_t>(0, kept)), 0);
    ::close(file);
  }
  void make_room() const { ASSERT_EQ(::unlink((state_ + "/fill").c_str()), 0); }

  // Each run that was reserved has ended once, each arm ran at most once, and the sums agree.
  void expect_each_once() const {
    std::map<std::string, int> ends;
    for (const Json& event : events(sandbox_, "run.reserved")) ends[event.at("subject")] = 0;
    for (const char* kind : {"run.collected", "run.voided"}) {
      for (const Json& event : events(sandbox_, kind)) ++ends[event.at("subject")];
    }
    for (const auto& [run, times] : ends) EXPECT_EQ(times, 1) << run;
    std::istringstream log(sandbox_.read("runs.log"));
    std::set<std::string> arms;
    for (std::string arm; std::getline(log, arm);) {
      EXPECT_TRUE(arms.insert(arm).second) << arm << " ran twice";
    }
    for (const Json& event : events(sandbox_, "run.voided")) {
      const std::string why = event.at("payload").at("reason");
      EXPECT_NE(why.find("disk"), std::string::npos) << "its story is lost: " << why;
    }
    const Json budget = json_of(sandbox_.amdahl({"status", "--json"})).at("budgets");
    EXPECT_NEAR(budget.at("accelerator_s").at("committed").get<double>(), 0, 1e-6);
  }

  Sandbox sandbox_;
  std::string state_ = sandbox_.path("state");
  bool mounted_ = false;
};

// However little is left when it happens: for a receipt, for an event, for nothing.
TEST_P(FullDisk, LosesNoRunAndGoesOnWithSpace) {
  ASSERT_EQ(sandbox_.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  ASSERT_EQ(sandbox_.amdahl({"propose", "nap", "--env", "NAP=0.1", "--gain", "50"}).code, 0);
  for (int i = 0; i < 60 && events(sandbox_, "experiment.registered").empty(); ++i) {
    ASSERT_EQ(sandbox_.amdahl({"cycle"}).code, 0);
    ::usleep(400'000);
  }
  ASSERT_EQ(sandbox_.amdahl({"cycle"}).code, 0);  // A pair is in flight.
  fill(GetParam());
  const Outcome full = sandbox_.amdahl({"cycle", "--watch"});
  EXPECT_EQ(full.code, 3) << full.out << full.err;
  EXPECT_NE(full.err.find("no space left on the disk"), std::string::npos) << full.err;
  sandbox_.amdahl({"cycle"});
  make_room();
  EXPECT_EQ(sandbox_.amdahl({"ledger", "verify"}).code, 0);
  const Outcome after = sandbox_.amdahl({"cycle", "--watch"});
  EXPECT_EQ(after.code, 0) << after.err;
  EXPECT_EQ(sandbox_.amdahl({"ledger", "verify"}).code, 0);
  expect_each_once();
  EXPECT_EQ(events(sandbox_, "gate.opened").size(), 1U) << "the win was found:\n"
                                                        << full.err << "---\n"
                                                        << after.err;
}
INSTANTIATE_TEST_SUITE_P(BlocksLeft, FullDisk, testing::Values(0, 2, 16, 64));

}  // namespace
}  // namespace amdahl::e2e
