// The loop on a real Slurm, with jobs whose truth we know: a large and a small win, no effect, and
// half the GPUs; the same on this machine.
#include <chrono>
#include <map>

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster.h"
#include "json.h"
#include "ledger/postgres/testing/server.h"
#include "os/host.h"

namespace amdahl::e2e {
namespace {

// What accounting says of each job by its name: accelerator-seconds.
std::map<std::string, double> accounted(const Cluster& cluster) {
  std::map<std::string, double> all;
  const Outcome told = run({"sacct", "-X", "-n", "-P", "-S", "now-1days", "-E", "now+1days", "-o",
                            "JobName,ElapsedRaw,End,AllocTRES"},
                           {{"SLURM_CONF", cluster.conf()}}, "/tmp");
  for (const auto line : split(told.out, '\n')) {
    const auto cells = split(line, '|');
    if (cells.size() != 4 || cells[2] == "Unknown") continue;
    double gpus = 0;
    for (const auto item : split(cells[3], ',')) {
      if (item.starts_with("gres/gpu=")) gpus = to_number<double>(item.substr(9)).value_or(0);
    }
    all[std::string(cells[0])] = gpus * to_number<double>(cells[1]).value_or(0);
  }
  return all;
}

// Every run is charged what accounting says, to a second of its allocation.
void expect_charges(const Sandbox& sandbox, const Cluster& cluster, int accelerators) {
  std::map<std::string, std::string> jobs;  // Reservation to job name.
  std::map<std::string, double> spent;
  for (const Json& event : events(sandbox, "run.submitted")) {
    const std::string worker = event.at("payload").at("worker_run_id");
    const auto parts = split(worker, ':');
    ASSERT_EQ(parts.size(), 3U) << worker;
    EXPECT_EQ(parts[0], "slurm");
    if (parts[2].find('/') == parts[2].npos) jobs[event.at("subject")] = std::string(parts[2]);
  }
  for (const char* kind : {"run.collected", "run.voided"}) {
    for (const Json& event : events(sandbox, kind)) {
      spent[event.at("subject")] = event.at("payload").at("spent_accelerator_s");
    }
  }
  std::map<std::string, double> billed = accounted(cluster);
  for (int i = 0; i < 50 && billed.size() < jobs.size(); ++i) {
    run({"sleep", "0.2"}, {}, "/tmp");
    billed = accounted(cluster);
  }
  ASSERT_GT(jobs.size(), 15U);
  for (const auto& [reservation, name] : jobs) {
    ASSERT_TRUE(spent.contains(reservation)) << reservation << " has no fate";
    ASSERT_TRUE(billed.contains(name)) << name;
    EXPECT_NEAR(spent[reservation], billed[name], accelerators) << reservation;
  }
}

// Four jobs that wait, so that other work on this machine hardly disturbs them, each a family of
// its own, so that none waits for a decision about another: what their owner expects is the truth.
struct Truth {
  const char* family;
  const char* option;
  const char* value;
  int gain;       // Claimed, in per cent.
  double effect;  // ln of what A takes over what B takes.
  double within;  // With what a start costs; of a hundredth of the job, even beside other work.
  bool wins;
};
constexpr Truth kTruths[] = {
    {"third", "--env", "NAP=0.6", 30, 0.405, 0.06, true},
    {"twentieth", "--env", "NAP=0.855", 5, 0.051, 0.02, true},
    {"nothing", "--env", "COLOUR=red", 5, 0, 0.02, false},
    {"half", "--accelerators", "1", 50, 0.693, 0.06, true},
};

void write_known_jobs(const Sandbox& sandbox, const std::string& place) {
  sandbox.add_nap_job("0.9");
  sandbox.write("job.sh",
                "#!/bin/sh\n"
                "echo \"$AMDAHL_OUT $CUDA_VISIBLE_DEVICES\" >> \"$RUN_LOG\"\n"
                "sleep ${NAP:-0.9}\n"
                "echo fine > \"$AMDAHL_OUT/result\"\n"
                "echo '{\"work\": 1}' >> \"$AMDAHL_REPORT\"\n",
                true);
  std::string spec = sandbox.read("job.toml");
  spec.replace(spec.find("accelerators = 1"), 16, "accelerators = 2");
  const std::size_t name = spec.find("\"nap\"");
  for (const Truth& truth : kTruths) {
    std::string own = spec;
    own.replace(name, 5, "\"" + std::string(truth.family) + "\"");
    sandbox.write(std::string(truth.family) + ".toml", own);
  }
  // Little is claimed by the playbook itself, so that only the known changes are tested.
  sandbox.write("config.toml", place +
                                   "[campaign]\nk = 4\n[compare]\ncap = 32\nmin_gain = 0.9\n"
                                   "[loop]\nlease_s = 10.0\nbusy_hosts = false\n"
                                   "[slurm]\npoll_s = 0.4\n");
}

// In production, on an allocation of two: what was promoted uses one, and says so.
void expect_half_in_production(const Sandbox& sandbox, std::map<std::string, std::string> env) {
  env["CUDA_VISIBLE_DEVICES"] = "4,5";
  Outcome ran;
  for (int i = 0; i < 20; ++i) {  // The canary leaves it out of one run in ten.
    ran = sandbox.amdahl({"run", "--promoted", "--family", "half"}, env);
    ASSERT_EQ(ran.code, 0) << ran.err;
    if (ran.err.find("left out") == ran.err.npos) break;
  }
  EXPECT_NE(ran.err.find("its allocation has 2 accelerators, and the promoted changes use 1"),
            ran.err.npos)
      << ran.err;
  EXPECT_TRUE(sandbox.read("runs.log").ends_with(" 4\n")) << "it saw one of them";
}

// To the verdicts; a person approves what waits at the gate.
void expect_known_verdicts(const Sandbox& sandbox, const std::map<std::string, std::string>& env) {
  for (const Truth& truth : kTruths) {
    const std::string family = truth.family;
    EXPECT_EQ(sandbox.amdahl({"adopt", "--spec", family + ".toml"}, env).code, 0);
    const Outcome proposed =
        sandbox.amdahl({"propose", family, truth.option, truth.value, "--gain",
                        std::to_string(truth.gain), "--title", family, "--as", "ada"},
                       env);
    EXPECT_EQ(proposed.code, 0) << proposed.err;
  }
  const Outcome cycle = sandbox.amdahl({"cycle", "--watch"}, env);
  EXPECT_EQ(cycle.code, 0) << cycle.err;
  std::map<std::string, double> effects;
  const Json gate = json_of(sandbox.amdahl({"gate", "list", "--json"}, env));
  for (const Json& row : gate.at("gate")) {
    const Json& packet = row.at("packet");
    effects[packet.at("family")] = packet.at("comparison").at("effect");
    const std::string id = packet.at("hypothesis");
    EXPECT_EQ(
        sandbox.amdahl({"gate", "approve", id, "--reason", "planted", "--as", "ada"}, env).code, 0);
  }
  for (const Truth& truth : kTruths) {
    EXPECT_EQ(effects.contains(truth.family), truth.wins) << truth.family << cycle.out << cycle.err;
    if (effects.contains(truth.family)) {
      EXPECT_NEAR(effects[truth.family], truth.effect, truth.within) << truth.family;
    }
    const Json list =
        json_of(sandbox.amdahl({"ledger", "list", "--family", truth.family, "--json"}, env));
    std::string state;
    for (const Json& row : list.at("hypotheses")) {
      if (row.at("hypothesis").at("title") == truth.family) state = row.at("state");
    }
    // Without an effect there is nothing to win: known not to be worth it, or not worth more hours.
    const bool lost = state == "no effect" || state == "parked";
    EXPECT_TRUE(truth.wins ? state == "promoted" : lost) << truth.family << ": " << state;
  }
  EXPECT_EQ(sandbox.amdahl({"ledger", "verify"}, env).code, 0);
  expect_half_in_production(sandbox, env);
}

TEST(SlurmCycle, KnownTruthsReachTheirVerdictsAndCostWhatSlurmCharged) {
  const Cluster cluster("/tmp/amdahl-slurm-" + os::random_hex(6));
  if (!cluster.runs()) GTEST_SKIP() << cluster.reason();
  const ledger::postgres::TestServer server;
  if (!server.runs()) GTEST_SKIP() << server.reason();
  Sandbox sandbox;
  write_known_jobs(sandbox, "launcher = \"slurm\"\nslots = 16\n");
  sandbox.write("config.toml", sandbox.read("config.toml") + "[ledger]\nwait_s = 20\nurl = \"" +
                                   server.url("cycle") + "\"\n");
  expect_known_verdicts(sandbox, {{"SLURM_CONF", cluster.conf()}});
  // Each arm saw what it claimed: two devices, or one.
  std::map<std::string, int> saw;
  for (const auto line : split(sandbox.read("runs.log"), '\n')) {
    const auto space = line.find(' ');
    if (space != line.npos) ++saw[std::to_string(split(line.substr(space + 1), ',').size())];
  }
  EXPECT_GT(saw["1"], 10);
  EXPECT_GT(saw["2"], 20);
  EXPECT_EQ(saw.size(), 2U);
  expect_charges(sandbox, cluster, 2);
}

TEST(SlurmCycle, TheSameTruthsReachTheSameVerdictsLocally) {
  const Sandbox sandbox;
  write_known_jobs(sandbox, "slots = 2\n");
  expect_known_verdicts(sandbox, {});
}

// What a scan of this Slurm, with samples of the job's idle devices, says to do about its family.
std::string ranking_of(const Sandbox& sandbox, std::map<std::string, std::string> env,
                       const std::string& job) {
  env["SLURM_TIME_FORMAT"] = "%s";
  std::vector<std::string_view> times;
  Outcome told;
  for (int i = 0; i < 50 && (times.size() != 3 || times[1] == "Unknown"); ++i) {
    run({"sleep", "0.2"}, {}, "/tmp");
    told = run({"sacct", "-X", "-n", "-P", "-j", job, "-o", "Start,End,NodeList"}, env, "/tmp");
    times = split(trim(told.out), '|');
  }
  if (times.size() != 3) return "sacct says: " + told.out + told.err;
  std::string samples = "timestamp,hostname,gpu,jobid,DCGM_FI_DEV_GPU_UTIL\n";
  const auto begin = to_number<std::int64_t>(times[0]).value_or(0);
  for (auto at = begin; at <= to_number<std::int64_t>(times[1]).value_or(0); ++at) {
    for (const char* gpu : {"0", "1"}) {
      samples += std::to_string(at) + "," + std::string(times[2]) + "," + gpu + "," + job + ",0\n";
    }
  }
  sandbox.write("samples.csv", samples);
  env.erase("SLURM_TIME_FORMAT");
  const std::string report =
      sandbox
          .amdahl({"scan", "--source", "slurm", "--source", "samples.csv", "--window", "1h"}, env)
          .out;
  const std::size_t hint = report.find("To experiment on ");
  if (hint == report.npos) return report;
  return report.substr(hint, report.find(" --family", hint) - hint);
}

TEST(SlurmCycle, AJobThatAScanFoundIsAdopted) {
  const Cluster cluster("/tmp/amdahl-slurm-" + os::random_hex(6));
  if (!cluster.runs()) GTEST_SKIP() << cluster.reason();
  Sandbox sandbox;
  const std::map<std::string, std::string> env{{"SLURM_CONF", cluster.conf()}};
  const auto submitted = [&](const std::string& name, const std::string& script) {
    sandbox.write(name, "#!/bin/bash\n#SBATCH --gres=gpu:2\n#SBATCH -o /dev/null\n" + script);
    const Outcome said =
        run({"sbatch", "--parsable", "--wait", "-J", name, name}, env, sandbox.path());
    return std::string(trim(said.out));
  };
  sandbox.write("inner/input", "");
  const std::string simple = submitted(
      "Eval.A",
      "#SBATCH -c 4 --mem=1000M\ncd inner\necho \"$(date)\"\nexport BATCH=4\nsrun sleep 1.1\n");
  const std::string longer = submitted("steps", "sleep 0.6\nsleep 0.6 && true\n");
  const std::string bad = submitted("bad", "exit 3\n");
  EXPECT_TRUE(ranking_of(sandbox, env, simple).ends_with("amdahl adopt slurm:" + simple))
      << "the ranking says what to type";
  Json spec = json_of(sandbox.amdahl({"adopt", "slurm:" + simple, "--json"}, env)).at("spec");
  EXPECT_EQ(spec.at("family"), "eval.a");
  EXPECT_EQ(spec.at("command"), (std::vector<std::string>{"sleep", "1.1"}));
  EXPECT_EQ(spec.at("env").at("BATCH"), "4");
  EXPECT_EQ(spec.at("workdir"), sandbox.path("inner"));
  EXPECT_EQ(spec.at("accelerators"), 2);
  EXPECT_EQ(spec.at("cpus"), 4);
  EXPECT_GT(spec.at("memory_limit_mb"), 0) << "what Slurm gave it";
  spec = json_of(sandbox.amdahl({"adopt", "slurm:" + longer, "--json"}, env)).at("spec");
  ASSERT_EQ(spec.at("command").size(), 2U);
  const Outcome again = run(spec.at("command"), env, sandbox.path());
  EXPECT_EQ(again.code, 0) << again.err;
  const std::string wide =
      submitted("wide", "#SBATCH -N 2\n#SBATCH --ntasks-per-node=2\nsrun sleep 1.1\n");
  spec = json_of(sandbox.amdahl({"adopt", "slurm:" + wide, "--json"}, env)).at("spec");
  EXPECT_EQ(spec.at("layout").at("nodes"), 2);
  EXPECT_EQ(spec.at("layout").at("tasks_per_node"), 2);
  EXPECT_EQ(spec.at("accelerators"), 4);
  EXPECT_EQ(spec.at("command").at(0), "bash");
  EXPECT_EQ(sandbox.amdahl({"adopt", "slurm:" + bad}, env).code, 2);
  EXPECT_EQ(sandbox.amdahl({"adopt", "slurm:99999"}, env).code, 1);
  EXPECT_EQ(sandbox.amdahl({"adopt", "slurm:1;id"}, env).code, 2);
}

}  // namespace
}  // namespace amdahl::e2e
