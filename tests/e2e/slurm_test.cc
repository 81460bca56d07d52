// Jobs of a real Slurm: what readers say of them against what the jobs themselves wrote down.
#include "fleet/slurm/slurm.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster.h"
#include "fleet/feed.h"
#include "fleet/slurm/live.h"
#include "json.h"

namespace amdahl::e2e {
namespace {

using fleet::Fed;
using fleet::Recorder;
using model::JobState;
using std::chrono::seconds;

class Jobs : public Cluster {
 public:
  using Cluster::Cluster;

  std::string say(const std::vector<std::string>& argv,
                  std::map<std::string, std::string> env = {}) const {
    env["SLURM_CONF"] = conf();
    const Outcome outcome = run(argv, env, folder());
    EXPECT_EQ(outcome.code, 0) << shell_quote(argv) << ": " << outcome.err;
    return outcome.out;
  }

  // The number of a job that runs `body`; it writes down its devices and its times.
  std::string submit(const std::string& name, std::vector<std::string> options,
                     const std::string& body) const {
    std::vector<std::string> argv = {"sbatch", "--parsable", "-J", name, "-o", "/dev/null"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back("--wrap=date +%s > " + folder() +
                   "/$SLURM_JOB_ID.from; echo $CUDA_VISIBLE_DEVICES > " + folder() +
                   "/$SLURM_JOB_ID.gpus; " + body + "; code=$?; date +%s > " + folder() +
                   "/$SLURM_JOB_ID.to; exit $code");
    return std::string(trim(say(argv)));
  }

  std::string wrote(const std::string& file) const {
    const Outcome outcome = run({"cat", folder() + "/" + file}, {}, "/tmp");
    return std::string(trim(outcome.out));
  }

  // Waits until `part` is in what the command says.
  bool until(const std::vector<std::string>& argv, const std::string& part) const {
    for (int i = 0; i < 300; ++i) {
      if (say(argv).find(part) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }
};

const Recorder::Job* find(const Fed& fed, const std::string& name, std::size_t nth = 0) {
  for (const auto& job : fed.told.jobs) {
    if (job.name == name && nth-- == 0) return &job;
  }
  return nullptr;
}

std::size_t count(const Fed& fed, const std::string& name) {
  return static_cast<std::size_t>(
      std::ranges::count_if(fed.told.jobs, [&](const auto& job) { return job.name == name; }));
}

const std::string& number_of(const Recorder::Job& job) {
  return job.raw.empty() ? job.id : job.raw;
}

// "1,3" has two devices.
std::size_t devices_in(const std::string& list) {
  return list.empty() ? 0 : split(list, ',').size();
}

// A job that ended says the same as accounting.
void expect_as_written(const Jobs& cluster, const Recorder::Job& job) {
  SCOPED_TRACE(job.name + " " + job.id);
  const std::string& number = number_of(job);
  EXPECT_EQ(job.draft.accelerators,
            static_cast<double>(devices_in(cluster.wrote(number + ".gpus"))));
  const auto from = to_number<std::int64_t>(cluster.wrote(number + ".from"));
  const auto to = to_number<std::int64_t>(cluster.wrote(number + ".to"));
  ASSERT_TRUE(from && to);
  EXPECT_NEAR(to_seconds(job.draft.start), static_cast<double>(*from), 3);
  EXPECT_NEAR(to_seconds(job.draft.end), static_cast<double>(*to), 8);  // Ends are seen late.
  EXPECT_EQ(job.draft.end - job.draft.start, job.draft.elapsed);
  EXPECT_LE(job.draft.submit, job.draft.start);
}

struct Submitted {
  std::string requeued;
  std::string waiting;
  std::string running;
};

Submitted submit_all(const Jobs& cluster) {
  Submitted jobs;
  jobs.running = cluster.submit("running", {"--gpus=3", "-w", "n2"}, "sleep 300");
  jobs.requeued =
      cluster.submit("again", {"--requeue", "--gpus=1"},
                     "if [ -z \"$SLURM_RESTART_COUNT\" ]; then sleep 300; else sleep 1; fi");
  cluster.submit("fine", {"--gpus=2"}, "sleep 2");
  cluster.submit("many", {"--array=0-2", "--gpus=1"}, "sleep 1");
  cluster.submit("wrong", {"--gpus=1"}, "(exit 3)");
  cluster.submit("plain", {}, "sleep 1");
  cluster.submit("both", {"--gpus=1", "-N1", ":", "--gpus=2", "-N1"}, "sleep 1");
  // More than there is while the first one runs.
  jobs.waiting = cluster.submit("waiting", {"--gres=gpu:4", "-N2"}, "sleep 1");
  return jobs;
}

void expect_all(const Jobs& cluster, const Fed& fed) {
  for (const char* name : {"fine", "wrong", "plain"}) {
    const auto* job = find(fed, name);
    ASSERT_NE(job, nullptr) << name;
    expect_as_written(cluster, *job);
  }
  EXPECT_EQ(find(fed, "fine")->kind, "a100");
  EXPECT_EQ(find(fed, "fine")->draft.state, JobState::kCompleted);
  EXPECT_EQ(find(fed, "wrong")->draft.state, JobState::kFailed);
  EXPECT_EQ(find(fed, "plain")->draft.accelerators, 0);

  ASSERT_EQ(count(fed, "many"), 3U);
  std::set<std::string> ids;
  std::set<std::string> numbers;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto* task = find(fed, "many", i);
    expect_as_written(cluster, *task);
    ids.insert(task->id.substr(task->id.find('_')));
    numbers.insert(number_of(*task));
  }
  EXPECT_EQ(ids, (std::set<std::string>{"_0", "_1", "_2"}));
  EXPECT_EQ(numbers.size(), 3U);

  ASSERT_EQ(count(fed, "both"), 2U);
  EXPECT_EQ(find(fed, "both", 0)->draft.accelerators + find(fed, "both", 1)->draft.accelerators, 3);
  EXPECT_NE(find(fed, "both", 0)->id.find("+"), std::string::npos);

  ASSERT_EQ(count(fed, "again"), 2U);  // Both attempts, with one number.
  EXPECT_EQ(find(fed, "again", 0)->id, find(fed, "again", 1)->id);
  EXPECT_NE(find(fed, "again", 0)->draft.start, find(fed, "again", 1)->draft.start);
  EXPECT_EQ(find(fed, "again", 0)->draft.accelerators, 1);

  ASSERT_NE(find(fed, "running"), nullptr);
  EXPECT_EQ(find(fed, "running")->draft.state, JobState::kRunning);
  EXPECT_EQ(find(fed, "running")->draft.end, Nanos());
  EXPECT_EQ(find(fed, "running")->draft.accelerators, 3);
  EXPECT_EQ(find(fed, "running")->hosts, "n2");

  ASSERT_NE(find(fed, "waiting"), nullptr);
  EXPECT_EQ(find(fed, "waiting")->draft.state, JobState::kCancelled);
  EXPECT_EQ(find(fed, "waiting")->draft.start, Nanos());
  EXPECT_EQ(find(fed, "waiting")->draft.accelerators, 8);
  EXPECT_EQ(fed.told.jobs.size(), 12U);
  EXPECT_TRUE(fed.told.complaints.empty()) << fed.told.complaints.front().text;
}

// The same jobs, whatever way they were asked for.
void expect_same(const Fed& one, const Fed& other) {
  ASSERT_EQ(one.told.jobs.size(), other.told.jobs.size());
  const auto line = [](const Recorder::Job& job) {
    // Running jobs are a second older in the second look.
    const auto elapsed = job.draft.state == JobState::kRunning ? 0 : job.draft.elapsed.count();
    std::ostringstream text;
    text << job.id << '|' << job.raw << '|' << job.name << '|' << job.user << '|' << job.account
         << '|' << job.partition << '|' << job.kind << '|' << job.hosts << '|'
         << model::name(job.draft.state) << '|' << job.draft.submit.count() << '|'
         << job.draft.start.count() << '|' << job.draft.end.count() << '|' << elapsed << '|'
         << job.draft.accelerators;
    return text.str();
  };
  std::vector<std::string> ones;
  std::vector<std::string> others;
  for (const auto& job : one.told.jobs) ones.push_back(line(job));
  for (const auto& job : other.told.jobs) others.push_back(line(job));
  std::ranges::sort(ones);
  std::ranges::sort(others);
  EXPECT_EQ(ones, others);
}

Fed live(const Jobs& cluster, const fleet::slurm::Command& command, Nanos now) {
  const std::string said = cluster.say(command.argv, command.env);
  EXPECT_TRUE(fleet::slurm::claims(said.substr(0, 4096))) << command.name << ": " << said;
  Fed fed = fleet::feed(fleet::slurm::make, said, {.now = now}, 1000);
  EXPECT_EQ(fed.error, "") << command.name;
  return fed;
}

// The program asks the same Slurm by itself.
void expect_scanned(const Sandbox& sandbox, const Fed& accounted) {
  const Outcome said = sandbox.amdahl({"scan", "--source", "slurm", "--window", "1h", "--json"},
                                      {{"SLURM_CONF", sandbox.path("s") + "/etc/slurm.conf"}});
  ASSERT_EQ(said.code, 0) << said.err;
  const auto report = json_of(said);
  std::size_t jobs = 0;
  double ended = 0;
  double queue = 0;
  for (const auto& job : accounted.told.jobs) {
    if (job.draft.start == Nanos() || job.draft.accelerators == 0) continue;
    ++jobs;
    queue += job.draft.accelerators * to_seconds(job.draft.start - job.draft.submit);
    if (job.draft.end != Nanos()) ended += job.draft.accelerators * to_seconds(job.draft.elapsed);
  }
  EXPECT_EQ(report.at("totals").at("jobs").get<std::size_t>(), jobs);
  EXPECT_NEAR(report.at("totals").at("queue_accelerator_s").get<double>(), queue, 1e-6);
  // Three accelerators still run.
  const double all = report.at("totals").at("split_accelerator_s").at("allocated").get<double>();
  EXPECT_GT(all, ended);
  EXPECT_LT(all, ended + 3 * 600);
  EXPECT_EQ(report.at("capacity").at("basis"), "counts of accelerators");
  EXPECT_NEAR(report.at("capacity").at("total_accelerator_s").get<double>(), 8 * 3600, 1e-6);
}

TEST(SlurmForReal, AccountingSaysWhatJobsDid) {
  const Sandbox sandbox;
  // munge wants a socket that all may reach.
  std::filesystem::permissions(sandbox.path(), std::filesystem::perms(0711));
  const Jobs cluster(sandbox.path("s"));
  if (!cluster.runs()) GTEST_SKIP() << cluster.reason();
  const Nanos begin = seconds(std::stoll(run({"date", "+%s"}, {}, "/tmp").out));

  const Submitted jobs = submit_all(cluster);
  ASSERT_TRUE(cluster.until({"squeue", "-h", "-o", "%i %T"}, jobs.requeued + " RUNNING"));
  cluster.say({"scontrol", "requeue", jobs.requeued});
  cluster.say({"scancel", jobs.waiting});
  cluster.say({"scontrol", "update", "nodename=n1", "state=drain", "reason=test of a drain"});
  cluster.say({"scontrol", "update", "nodename=n1", "state=resume"});
  // All but one have ended, and accounting has heard of it: it hears of them in any order.
  const std::vector<std::string> ended = {
      "sh", "-c",
      "sacct -a -D -X -n -P -S now-1hours -E now+1days -o State,End |"
      " grep -vc -e Unknown -e '^PENDING' || true"};
  ASSERT_TRUE(cluster.until(ended, "11")) << cluster.say({"squeue"});

  const auto commands = fleet::slurm::commands({.from = begin - std::chrono::hours(1)});
  const Nanos now = begin + std::chrono::hours(1);
  const Fed accounted = live(cluster, commands.at(0), now);
  expect_all(cluster, accounted);

  const Fed nodes = live(cluster, commands.at(1), now);
  EXPECT_EQ(join(nodes.told.capacities, " "), "n1|main|a100|4 n2|main|a100|4");
  live(cluster, commands.at(2), now);
  // Which devices the running job has, against what it was given.
  const Fed placed = live(cluster, commands.at(3), now);
  std::vector<std::string> places;
  const std::string devices = cluster.wrote(jobs.running + ".gpus");
  for (const std::string_view device : split(devices, ',')) {
    places.push_back(jobs.running + " n2 " + std::string(device));
  }
  EXPECT_EQ(placed.told.places, places);

  // As people save it: with steps, local times, "|"; and as JSON.
  const std::string berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
  const std::string fields(fleet::slurm::sacct_fields());
  const std::string text =
      cluster.say({"sacct", "-a", "-D", "-P", "-S", "now-1hours", "-E", "now+1days", "-o", fields},
                  {{"TZ", berlin}});
  const Fed saved = fleet::feed(fleet::slurm::make, text, {.time_zone = berlin});
  EXPECT_EQ(saved.error, "");
  EXPECT_GT(saved.told.count(model::Trouble::kStep), 5U);
  expect_same(accounted, saved);
  const std::string json =
      cluster.say({"sacct", "-a", "-D", "--json", "-S", "now-1hours", "-E", "now+1days"});
  const Fed read = fleet::feed(fleet::slurm::make, json, {}, 777);
  EXPECT_EQ(read.error, "");
  expect_same(accounted, read);
  // And the capacity, from the nodes themselves.
  const Fed shown = fleet::feed(fleet::slurm::make, cluster.say({"scontrol", "show", "nodes"}));
  EXPECT_EQ(shown.told.capacities, nodes.told.capacities);
  expect_scanned(sandbox, accounted);
}

}  // namespace
}  // namespace amdahl::e2e
