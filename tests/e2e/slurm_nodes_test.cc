// Jobs of several nodes on a real Slurm: ranks are seen on their nodes, the late one is named, and
// its fix is promoted.
#include <map>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster.h"
#include "json.h"
#include "ledger/postgres/testing/server.h"
#include "os/host.h"

namespace amdahl::e2e {
namespace {

class SlurmNodes : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.emplace("/tmp/amdahl-slurm-" + os::random_hex(6));
    if (!cluster_->runs()) GTEST_SKIP() << cluster_->reason();
    if (!server_.runs()) GTEST_SKIP() << server_.reason();
    env_ = {{"SLURM_CONF", cluster_->conf()}};
    sandbox_.write("config.toml",
                   "launcher = \"slurm\"\nslots = 16\n[campaign]\nk = 2\n[compare]\ncap = 24\n"
                   "min_gain = 0.9\n[loop]\nlease_s = 10.0\nbusy_hosts = false\n"
                   "[slurm]\npoll_s = 0.4\n[ledger]\nwait_s = 20\nurl = \"" +
                       server_.url("nodes") + "\"\n");
  }

  std::string propose(const std::string& family, const std::string& option,
                      const std::string& value) const {
    const Outcome outcome = sandbox_.amdahl(
        {"propose", family, option, value, "--gain", "40", "--title", value, "--as", "ada"}, env_);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out.substr(0, outcome.out.find(' '));
  }

  // What waits at the gate, by hypothesis: the effect.
  std::map<std::string, double> at_gate() const {
    std::map<std::string, double> effects;
    const Json gate = json_of(sandbox_.amdahl({"gate", "list", "--json"}, env_));
    for (const Json& row : gate.at("gate")) {
      effects[row.at("packet").at("hypothesis")] = row.at("packet").at("comparison").at("effect");
    }
    return effects;
  }

  // Every receipt of an arm that succeeded.
  std::vector<Json> receipts() const {
    std::vector<Json> all;
    for (const std::string& run : sandbox_.list("state/runs")) {
      for (const char* arm : {"A", "B", "C"}) {
        const std::string path = "state/runs/" + run + "/" + arm + "/receipt.json";
        if (sandbox_.has(path)) all.push_back(Json::parse(sandbox_.read(path)));
      }
    }
    return all;
  }

  // Two nodes, each with two ranks, whose numbers and busy time are known.
  static void expect_hosts(const Json& receipt) {
    EXPECT_EQ(receipt.at("schema"), 2);
    ASSERT_EQ(receipt.at("hosts").size(), 2U) << receipt.dump();
    std::set<std::string> names;
    std::set<int> ranks;
    for (const Json& host : receipt.at("hosts")) {
      names.insert(host.at("host"));
      for (const Json& rank : host.at("ranks")) ranks.insert(rank.at("rank").get<int>());
      EXPECT_TRUE(host.at("noise").at("load1").is_number());
      EXPECT_EQ(host.at("hardware"), receipt.at("hardware"));
    }
    EXPECT_EQ(names, (std::set<std::string>{"n1", "n2"}));
    EXPECT_EQ(ranks, (std::set<int>{0, 1, 2, 3}));
    EXPECT_EQ(receipt.at("utilisation").at("permille").size(), receipt.at("accelerators"));
    EXPECT_EQ(receipt.at("left_behind"), 0);
  }

  std::optional<Cluster> cluster_;
  ledger::postgres::TestServer server_;
  Sandbox sandbox_;
  std::map<std::string, std::string> env_;
};

// Rank 3 is late by LATE seconds; each rank says what it sees.
constexpr const char* kRanks = R"(#!/bin/sh
echo "$AMDAHL_OUT $SLURM_PROCID $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES" >> "$RUN_LOG"
sleep 0.4
[ "$SLURM_PROCID" = 3 ] && sleep "${LATE:-0.8}"
if [ "$SLURM_PROCID" = 0 ]; then
  echo fine > "$AMDAHL_OUT/result"
  echo '{"work": 1}' >> "$AMDAHL_REPORT"
fi
exit 0
)";

TEST_F(SlurmNodes, RanksOfTwoNodesAreSeenAndTheFixIsPromoted) {
  sandbox_.write("ranks.sh", kRanks, true);
  sandbox_.write("job.toml",
                 "family = \"ranks\"\ncommand = [\"srun\", \"./ranks.sh\"]\n"
                 "inputs = [\"ranks.sh\"]\nnodes = 2\ntasks_per_node = 2\n"
                 "accelerators = 4\ntime_limit_s = 60\n[env]\nRUN_LOG = \"" +
                     sandbox_.path("runs.log") + "\"\n[[outputs]]\npath = \"{out}/result\"\n");
  const Outcome adopted = sandbox_.amdahl({"adopt", "--spec", "job.toml"}, env_);
  ASSERT_EQ(adopted.code, 0) << adopted.err;
  const std::string fix = propose("ranks", "--env", "LATE=0");
  const std::string half = propose("ranks", "--accelerators", "2");
  const Outcome cycle = sandbox_.amdahl({"cycle", "--watch"}, env_);
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  const auto effects = at_gate();
  ASSERT_TRUE(effects.contains(fix)) << cycle.out << cycle.err;
  EXPECT_GT(effects.at(fix), 0.3) << "1.2 s against 0.4 s, with what srun costs";
  ASSERT_TRUE(effects.contains(half)) << cycle.out << cycle.err;
  EXPECT_NEAR(effects.at(half), 0.69, 0.15) << "ln of 2: as long, on half of the GPUs";
  int seen = 0;
  for (const Json& receipt : receipts()) {
    if (receipt.at("ending") != "exited" || receipt.at("arm") == "profile") continue;
    ++seen;
    expect_hosts(receipt);
  }
  EXPECT_GT(seen, 10);
  // Each rank saw what its arm claimed: two devices of its node, or one.
  std::map<std::size_t, int> saw;
  for (const auto line : split(sandbox_.read("runs.log"), '\n')) {
    const auto words = split(line, ' ');
    if (words.size() == 4) ++saw[split(words[3], ',').size()];
  }
  EXPECT_GT(saw[2], 20);
  EXPECT_GT(saw[1], 20);
  EXPECT_EQ(saw.size(), 2U);
  const Outcome gate =
      sandbox_.amdahl({"gate", "approve", fix, "--as", "ada", "--reason", "rank 3 was late"}, env_);
  ASSERT_EQ(gate.code, 0) << gate.err;
  ASSERT_EQ(sandbox_.amdahl({"cycle"}, env_).code, 0);
  EXPECT_EQ(events(sandbox_, "baseline.moved").size(), 1U);
}

// The ranks are children of Open MPI's daemons, one a node, whose own numbers are 0 and 1.
TEST_F(SlurmNodes, RanksThatMpirunStartsAreSeenAndTheirFixFound) {
  if (run({"mpirun", "--version"}, {}, "/tmp").code != 0) {
    GTEST_SKIP() << "no mpirun (Debian: openmpi-bin)";
  }
  std::string ranks = kRanks;
  for (std::size_t at = 0; (at = ranks.find("SLURM_PROCID", at)) != ranks.npos;) {
    ranks.replace(at, 12, "OMPI_COMM_WORLD_RANK");
  }
  sandbox_.write("ranks.sh", ranks, true);
  sandbox_.write("job.toml",
                 "family = \"mpi\"\ncommand = [\"mpirun\", \"--allow-run-as-root\", \"--mca\", "
                 "\"oob_tcp_if_include\", \"lo\", \"./ranks.sh\"]\n"
                 "inputs = [\"ranks.sh\"]\nnodes = 2\ntasks_per_node = 2\n"
                 "accelerators = 4\ntime_limit_s = 60\n[env]\nRUN_LOG = \"" +
                     sandbox_.path("runs.log") + "\"\n[[outputs]]\npath = \"{out}/result\"\n");
  const Outcome adopted = sandbox_.amdahl({"adopt", "--spec", "job.toml"}, env_);
  ASSERT_EQ(adopted.code, 0) << adopted.err;
  const std::string fix = propose("mpi", "--env", "LATE=0");
  const Outcome cycle = sandbox_.amdahl({"cycle", "--watch"}, env_);
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  EXPECT_TRUE(at_gate().contains(fix)) << cycle.out << cycle.err;
  int seen = 0;
  for (const Json& receipt : receipts()) {
    if (receipt.at("ending") != "exited" || receipt.at("arm") == "profile") continue;
    ++seen;
    expect_hosts(receipt);
  }
  EXPECT_GT(seen, 10);
}

constexpr const char* kTrain = R"(family = "train"
command = ["srun", "--quiet", "sh", "-c", """exec torchrun -r 1 -t 2 --log_dir "$AMDAHL_OUT/log" \\
  --nnodes=2 --nproc_per_node=2 --monitor_interval=0.1 --node_rank="$SLURM_NODEID" \\
  --master_addr={head} --master_port={port} train_ranks.py"""]
inputs = ["train_ranks.py"]
nodes = 2
accelerators = 4
time_limit_s = 120
[env]
LATE_RANK = "3"
OMP_NUM_THREADS = "1"
[work]
unit = "steps"
[[outputs]]
path = "{out}/weights"
)";

TEST_F(SlurmNodes, TheLateRankOfATorchrunJobIsNamedAndItsFixPromoted) {
  if (run({"/usr/bin/python3", "-c", "import torch.distributed.run"}, {}, "/tmp").code != 0) {
    GTEST_SKIP() << "no torchrun (Debian: python3-torch)";
  }
  run({"cp", source_path("/tests/e2e/testdata/train_ranks.py"), sandbox_.path()}, {}, "/tmp");
  sandbox_.write("job.toml", kTrain);
  ASSERT_EQ(sandbox_.amdahl({"adopt", "--spec", "job.toml"}, env_).code, 0);
  for (int i = 0; i < 300 && events(sandbox_, "profile.recorded").empty(); ++i) {
    ASSERT_EQ(sandbox_.amdahl({"cycle"}, env_).code, 0);
    run({"sleep", "1"}, {}, "/tmp");
  }
  const Json profile = json_of(sandbox_.amdahl({"profile", "train", "--show", "--json"}, env_));
  EXPECT_EQ(profile.at("evidence").at("ranks.straggler"), 3) << profile.dump();
  std::set<std::string> causes;
  for (const Json& cause : profile.at("causes")) causes.insert(cause.at("id"));
  EXPECT_TRUE(causes.contains("communication.straggler"));
  const std::string folder = "state/runs/r-profile-train-1/";
  int traces = 0;
  for (const std::string& name : sandbox_.list(folder + "B")) {
    traces += name.ends_with(".pt.trace.json") ? 1 : 0;
  }
  EXPECT_EQ(traces, 4) << "of each rank, from both nodes";
  expect_hosts(Json::parse(sandbox_.read(folder + "A/receipt.json")));
  const std::string fix = propose("train", "--env", "LATE=0");
  const Outcome cycle = sandbox_.amdahl({"cycle", "--watch"}, env_);
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  ASSERT_TRUE(at_gate().contains(fix)) << cycle.out << cycle.err;
  ASSERT_EQ(sandbox_.amdahl({"gate", "approve", fix, "--as", "ada", "--reason", "late"}, env_).code,
            0);
  ASSERT_EQ(sandbox_.amdahl({"cycle"}, env_).code, 0);
  EXPECT_EQ(events(sandbox_, "baseline.moved").size(), 1U);
}

}  // namespace
}  // namespace amdahl::e2e
