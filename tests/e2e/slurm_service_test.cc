// docs/guide/operate.md on a real Slurm: a user without root, folders and words that a shell would
// stumble over, cleaning, backup and restore, the units.
#include <algorithm>
#include <map>
#include <optional>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/text.h"
#include "cluster.h"
#include "json.h"
#include "os/host.h"

namespace amdahl::e2e {
namespace {

constexpr const char* kUser = "games";  // There on every Debian, and may do nothing.
constexpr const char* kHostile = "we ird'\"; touch pwned $(touch pwned) `touch pwned` %j";

class SlurmService : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    cluster_.emplace("/tmp/amdahl-slurm-" + os::random_hex(6));
    if (!cluster_->runs()) GTEST_SKIP() << cluster_->reason();
    run({"chmod", "711", sandbox_.path()}, {}, "/tmp");
    home_ = sandbox_.path(kHostile);
    const Outcome made = run({"install", "-d", "-o", kUser, "-m", "700", home_}, {}, "/tmp");
    ASSERT_EQ(made.code, 0) << made.err;
  }

  std::string inside(const std::string& name) const { return std::string(kHostile) + "/" + name; }

  Outcome as_user(std::vector<std::string> words) const {
    words.insert(words.begin(), {"runuser", "-u", kUser, "--"});
    return run(words,
               {{"AMDAHL_STATE", home_ + "/state"},
                {"AMDAHL_CONFIG", home_ + "/config.toml"},
                {"SLURM_CONF", cluster_->conf()},
                {"HOME", home_},
                {"NO_COLOR", "1"}},
               home_);
  }
  Outcome amdahl(std::vector<std::string> words) const {
    words.insert(words.begin(), program());
    return as_user(words);
  }
  void write(const std::string& name, const std::string& text, bool executable = false) const {
    sandbox_.write(inside(name), text, executable);
    run({"chown", kUser, home_ + "/" + name}, {}, "/tmp");
  }
  std::size_t files_named(const std::string& name) const {
    const Outcome found = run({"find", sandbox_.path(), "-name", name}, {}, "/tmp");
    return split(trim(found.out), '\n').size() - (trim(found.out).empty() ? 1 : 0);
  }

  std::size_t runs_of_experiments() const {
    const auto names = sandbox_.list(inside("state/runs"));
    return static_cast<std::size_t>(std::ranges::count_if(
        names, [](const std::string& name) { return name.starts_with("r-x-"); }));
  }

  // Backup at any time, and both ways to restore.
  void expect_restored() const {
    const std::string ledger = home_ + "/state/ledger.db";
    EXPECT_EQ(as_user({"sqlite3", ledger, ".backup backup.db"}).code, 0);
    EXPECT_EQ(amdahl({"ledger", "copy", ledger, home_ + "/copy.db"}).code, 0);
    const std::string before = amdahl({"ledger", "export"}).out;
    EXPECT_EQ(as_user({"rm", "-f", ledger, ledger + "-wal", ledger + "-shm"}).code, 0);
    EXPECT_EQ(as_user({"cp", "backup.db", ledger}).code, 0);
    EXPECT_EQ(amdahl({"ledger", "verify"}).code, 0);
    EXPECT_EQ(amdahl({"ledger", "export"}).out, before);
    EXPECT_EQ(as_user({"rm", "-f", ledger, ledger + "-wal", ledger + "-shm"}).code, 0);
    const Outcome back = amdahl({"ledger", "copy", home_ + "/copy.db", ledger});
    EXPECT_EQ(back.code, 0) << back.err;
    EXPECT_EQ(amdahl({"ledger", "verify"}).code, 0);
    EXPECT_EQ(amdahl({"ledger", "export"}).out, before);
  }

  std::optional<Cluster> cluster_;
  Sandbox sandbox_;
  std::string home_;
};

constexpr const char* kJob = R"sh(#!/bin/sh
printf '%s\n' "$(id -un)" "$@" "$WORDS" > "$AMDAHL_OUT/../words"
sleep ${NAP:-0.9}
echo fine > "$AMDAHL_OUT/result"
echo '{"work": 1}' >> "$AMDAHL_REPORT"
cp "$AMDAHL_OUT/../words" "$AMDAHL_OUT/words"
)sh";

TEST_F(SlurmService, AUserWithoutRootOperatesTheLoopFromNothingToARestore) {
  write("job.sh", kJob, true);
  write("job.toml",
        "family = \"nap\"\ncommand = [\"./job.sh\", \"$(touch pwned)\", \"a'b\\\"c\\nd; touch "
        "pwned\"]\n"
        "inputs = [\"job.sh\"]\ntime_limit_s = 20\n[env]\nWORDS = \"`touch pwned`\\n%j\"\n"
        "[[outputs]]\npath = \"{out}/result\"\n");
  write("config.toml",
        "launcher = \"slurm\"\nslots = 16\n[campaign]\nk = 4\n[compare]\ncap = 24\nmin_gain = 0.9\n"
        "[loop]\nlease_s = 10.0\nbusy_hosts = false\n[slurm]\npoll_s = 0.4\n");
  // First steps.
  EXPECT_EQ(amdahl({"init"}).code, 0);
  const Outcome doctor = amdahl({"doctor"});
  EXPECT_LE(doctor.code, 1) << doctor.out << doctor.err;
  EXPECT_NE(doctor.out.find("slurm gpu; room for 8 more jobs of one accelerator"),
            std::string::npos)
      << doctor.out;
  const Outcome adopted = amdahl({"adopt", "--spec", "job.toml"});
  ASSERT_EQ(adopted.code, 0) << adopted.err;
  ASSERT_EQ(amdahl({"propose", "nap", "--env", "NAP=0.4", "--gain", "40", "--title",
                    "$(touch pwned)", "--as", "ada"})
                .code,
            0);
  const Outcome cycle = amdahl({"cycle", "--watch"});
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  const Json gate = json_of(amdahl({"gate", "list", "--json"}));
  ASSERT_EQ(gate.at("gate").size(), 1U) << cycle.out << cycle.err;
  // Every word came through as it was written, and none was run.
  int seen = 0;
  for (const std::string& name : sandbox_.list(inside("state/runs"))) {
    const std::string words = inside("state/runs/" + name + "/A/words");
    if (!sandbox_.has(words)) continue;
    ++seen;
    EXPECT_EQ(sandbox_.read(words), std::string(kUser) +
                                        "\n$(touch pwned)\na'b\"c\nd; touch pwned\n"
                                        "`touch pwned`\n%j\n");
  }
  EXPECT_GT(seen, 5);
  EXPECT_EQ(files_named("pwned"), 0U);
  const Outcome mode = run({"stat", "-c", "%a %U", home_ + "/state"}, {}, "/tmp");
  EXPECT_EQ(mode.out, std::string("700 ") + kUser + "\n");

  expect_restored();

  // Old folders go; what is new or still needed stays. Their age is that of their events.
  const std::size_t runs = runs_of_experiments();
  EXPECT_EQ(amdahl({"clean", "--older", "30"}).code, 0);
  EXPECT_EQ(amdahl({"clean", "--older", "0"}).code, 0);
  EXPECT_EQ(runs_of_experiments(), runs) << "a live experiment needs them";
  const std::string win = gate.at("gate")[0].at("packet").at("hypothesis");
  EXPECT_EQ(amdahl({"gate", "reject", win, "--as", "ada", "--reason", "a test"}).code, 0);
  EXPECT_EQ(amdahl({"clean", "--older", "0", "--dry-run"}).code, 0);
  EXPECT_EQ(runs_of_experiments(), runs);
  const Outcome cleaned = amdahl({"clean", "--older", "0", "--keep", "500"});
  EXPECT_EQ(cleaned.code, 0) << cleaned.err;
  EXPECT_EQ(runs_of_experiments(), 0U) << cleaned.out;
  EXPECT_EQ(amdahl({"ledger", "verify"}).code, 0);
  // As the crontab has it, and the loop goes on.
  const Outcome cron = as_user({"sh", "-c", "\"$0\" cycle || [ $? -ge 4 ]", program()});
  EXPECT_EQ(cron.code, 0) << cron.err;
}

TEST(SlurmServiceUnits, AreValid) {
  if (run({"systemd-analyze", "--version"}, {}, "/tmp").code != 0) {
    GTEST_SKIP() << "no systemd-analyze (Debian: systemd)";
  }
  Sandbox sandbox;
  for (const char* unit : {"amdahl.service", "amdahl.timer", "amdahl-clean.service",
                           "amdahl-clean.timer", "amdahl-serve.service"}) {
    const Outcome text = run({"cat", source_path("/integrations/systemd/") + unit}, {}, "/tmp");
    std::string here = text.out;
    for (std::size_t at = 0; (at = here.find("/usr/bin/amdahl", at)) != here.npos;) {
      here.replace(at, 15, "/bin/true");
    }
    sandbox.write(unit, here);
  }
  const Outcome said =
      run({"systemd-analyze", "verify", "--man=no", sandbox.path("amdahl.timer"),
           sandbox.path("amdahl.service"), sandbox.path("amdahl-clean.timer"),
           sandbox.path("amdahl-clean.service"), sandbox.path("amdahl-serve.service")},
          {}, sandbox.path());
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(count_lines(said.err, "amdahl"), 0) << said.err;
}

}  // namespace
}  // namespace amdahl::e2e
