// torture_test.cc: four machines with one ledger on a real PostgreSQL run pairs on a real Slurm
// while everything fails in turn: nothing is lost, run twice or charged wrongly.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/text.h"
#include "cluster.h"
#include "command.h"
#include "json.h"
#include "ledger/postgres/testing/server.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"
#include "torture_bills.h"
#include "torture_plan.h"

namespace amdahl::e2e {
namespace {

using ledger::postgres::TestServer;

constexpr int kMachines = 4;
constexpr int kIdeas = 8;        // At first,
constexpr int kIdeasAFault = 2;  // and more, so that there is always something to run.
constexpr auto kTick = std::chrono::milliseconds(20);
constexpr int kTicksALook = 5;
constexpr int kKilled = 128 + SIGKILL;
constexpr double kForDeath = 8;    // For something to die at the point, after the fault.
constexpr double kForTarget = 30;  // For what a fault is meant to meet.
constexpr double kHangs = 12;      // Longer than Slurm's clients wait.
// A run leaves about 100 kB, and each machine has a replica.
constexpr const char* kDisk = "size=600m,mode=755";

struct Machine {
  std::string name;
  Command cycle;
  Command helper;
  int started = 0;             // Cycles so far.
  int rests = 0;               // Ticks until its next cycle.
  bool doomed = false;         // Its cycle dies at the point of the present fault,
  bool helper_doomed = false;  // or its helper does.
};

class Torture : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override {
    for (Machine& machine : machines_) stop(machine);
    while (mounted_ && ::umount2(state_.c_str(), MNT_DETACH) == 0) {
    }
  }

  std::vector<std::string> words_on(const Machine& machine,
                                    const std::vector<std::string>& words) const;
  std::map<std::string, std::string> variables() const;
  Outcome on(const Machine& machine, const std::vector<std::string>& words) const {
    return run(words_on(machine, words), variables(), sandbox_.path());
  }
  void configure(const std::string& more) const;
  void propose(int count);
  std::map<std::string, std::string> doom(bool& doomed) const;
  void keep_busy(Machine& machine);
  void start_cycle(Machine& machine);
  void note_death(bool& doomed, int code);
  void stop(Machine& machine);
  void have(const Fault& fault);
  void inject(const std::string& fault);
  void mend(const std::string& fault);
  void kill_jobs_of_node(const std::string& node) const;
  bool kill_a_worker() const;
  bool kill_during_commit();
  void pass(double seconds, const std::function<bool()>& until);
  void fill() const;
  bool cover_read_only() const;
  int arms_run() const { return count_lines(sandbox_.read("runs.log"), " "); }
  void pause(double seconds) const { os::real_clock().sleep(from_seconds(seconds)); }

  void settle();
  void expect_one_fate_each();
  void expect_arms_at_most_once() const;
  void expect_charges();
  void expect_equal_replicas();

  bool all_ = false;  // Every fault with every fault point.
  int pairs_ = 0;
  Nanos limit_{};  // For faults; what follows takes some minutes more.
  int ideas_ = 0;
  std::optional<TorturePlan> plan_;
  Cluster cluster_{"/tmp/amdahl-t-" + os::random_hex(6)};
  TestServer server_{
      std::vector<std::string>{"fsync=on", "commit_delay=20000", "commit_siblings=0"}};
  Sandbox sandbox_;
  std::string state_ = sandbox_.path("state");
  bool mounted_ = false;
  std::vector<Machine> machines_{kMachines};
  Fault fault_;                        // The present one.
  bool died_ = false;                  // A cycle or a helper has died at its point.
  bool own_kill_ = false;              // Cycles and helpers die of us.
  std::map<std::string, int> faults_;  // How often each was there, and met what it was meant for.
  std::set<std::string> points_;       // Where something died.
  int met_ = 0;                        // Faults during which something died at their point.
  std::map<int, int> exits_;           // Of cycles.
};

void Torture::SetUp() {
  const auto number = [](const char* name, int fallback) {
    return to_number<int>(os::env_or(name, "")).value_or(fallback);
  };
  const int seed = number("AMDAHL_TORTURE_SEED", 1);
  pairs_ = number("AMDAHL_TORTURE_PAIRS", 12);
  limit_ = std::chrono::minutes(number("AMDAHL_TORTURE_MINUTES", 600));
  all_ = !os::env_or("AMDAHL_TORTURE_ALL", "").empty();
  plan_.emplace(static_cast<std::uint32_t>(seed));
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("seed %d, at least %d pairs\n", seed, pairs_);
  if (!cluster_.runs()) GTEST_SKIP() << cluster_.reason();
  if (!server_.runs()) GTEST_SKIP() << server_.reason();
  sandbox_.add_nap_job("1");
  // Outside of all that is tortured. The name of the job is unique to a reservation.
  sandbox_.write("job.sh",
                 "#!/bin/sh\n"
                 "echo \"$SLURM_JOB_NAME $(basename \"$AMDAHL_OUT\")\" >> \"$RUN_LOG\"\n"
                 "sleep ${NAP:-1}\n"
                 "echo fine > \"$AMDAHL_OUT/result\"\n"
                 "echo '{\"work\": 1}' >> \"$AMDAHL_REPORT\"\n",
                 true);
  // Jobs that the controller lost end at the time limit of their allocation: a short one.
  std::string spec = sandbox_.read("job.toml");
  spec.replace(spec.find("time_limit_s = 20"), 17, "time_limit_s = 8");
  sandbox_.write("job.toml", spec);
  sandbox_.write("state/.here", "");
  if (::mount("tmpfs", state_.c_str(), "tmpfs", 0, kDisk) != 0) {
    GTEST_SKIP() << "a disk for the state cannot be mounted here: " << std::strerror(errno);
  }
  mounted_ = true;
  configure("");
  for (int i = 0; i < kMachines; ++i) {
    machines_[static_cast<std::size_t>(i)].name = "m" + std::to_string(i + 1);
  }
  ASSERT_EQ(on(machines_[0], {"adopt", "--spec", "job.toml"}).code, 0);
  propose(kIdeas);
}

// Ideas without any effect, whose pairs differ in nothing.
void Torture::propose(int count) {
  for (int i = 0; i < count; ++i) {
    const std::string colour = "COLOUR=c" + std::to_string(ideas_++);
    const Outcome proposed = on(machines_[0], {"propose", "nap", "--env", colour, "--gain", "40",
                                               "--title", colour, "--as", "ada"});
    ASSERT_EQ(proposed.code, 0) << proposed.err;
  }
}

void Torture::configure(const std::string& more) const {
  sandbox_.write("config.toml",
                 "launcher = \"slurm\"\nslots = 6\n[campaign]\nk = 1000\n[compare]\ncap = 24\n"
                 "min_gain = 0.9\n[loop]\nlease_s = 4.0\nbusy_hosts = false\n"
                 "[slurm]\npoll_s = 0.4\nsettle_s = 20\n[ledger]\nwait_s = 20\nurl = \"" +
                     server_.url("torture") + "\"\n" + more);
}

std::vector<std::string> Torture::words_on(const Machine& machine,
                                           const std::vector<std::string>& words) const {
  std::vector<std::string> argv{
      "unshare", "--uts", "sh", "-c", "hostname " + machine.name + " && exec \"$0\" \"$@\"",
      program()};
  argv.insert(argv.end(), words.begin(), words.end());
  return argv;
}

std::map<std::string, std::string> Torture::variables() const {
  return {{"SLURM_CONF", cluster_.conf()},
          {"AMDAHL_STATE", state_},
          {"AMDAHL_CONFIG", sandbox_.path("config.toml")},
          {"TMPDIR", "/tmp"}};
}

// Where what starts now dies, unless something has already died there during this fault.
std::map<std::string, std::string> Torture::doom(bool& doomed) const {
  std::map<std::string, std::string> env = variables();
  doomed = !fault_.point.empty() && !died_;
  if (!doomed) return env;
  env["AMDAHL_FAULT_POINT"] = fault_.point;
  env["AMDAHL_FAULT_AT"] = std::to_string(fault_.at);
  return env;
}

void Torture::start_cycle(Machine& machine) {
  const Start start = plan_->start(machine.name.back() - '0', machine.started++);
  machine.rests = start.rest_ticks;
  std::map<std::string, std::string> env = doom(machine.doomed);
  std::vector<std::string> words{"cycle"};
  if (start.watch) words.emplace_back("--watch");
  std::vector<std::string> argv = words_on(machine, words);
  if (fault_.name.starts_with("clock")) {
    env["CLOCK_SHIFT_S"] = fault_.name == "clock ahead" ? "3600" : "-3600";
    argv[4] = "hostname " + machine.name + " && LD_PRELOAD=" CLOCK_SHIFT " exec \"$0\" \"$@\"";
  }
  machine.cycle.start(argv, env, sandbox_.path(machine.name + ".log"));
}

// Who was to die at the point of the present fault, and was not killed by us, died there.
void Torture::note_death(bool& doomed, int code) {
  const bool there = doomed && code == kKilled && !own_kill_;
  doomed = false;
  if (!there || died_) return;
  died_ = true;
  ++met_;
  points_.insert(fault_.point);
}

void Torture::keep_busy(Machine& machine) {
  if (const auto code = machine.cycle.ended()) {
    ++exits_[*code];
    note_death(machine.doomed, *code);
  }
  if (const auto code = machine.helper.ended()) note_death(machine.helper_doomed, *code);
  if (!machine.cycle.runs() && machine.rests-- <= 0) start_cycle(machine);
  if (machine.helper.runs() || machine.name > "m2") return;
  machine.helper.start(words_on(machine, {"work", "--idle", "60"}), doom(machine.helper_doomed),
                       sandbox_.path(machine.name + ".work.log"));
}

void Torture::stop(Machine& machine) {
  for (Command* command : {&machine.cycle, &machine.helper}) {
    command->signal(SIGKILL);
    while (command->runs()) command->ended();
  }
}

// Jobs carry the name of their node, and our configuration.
void Torture::kill_jobs_of_node(const std::string& node) const {
  for (const std::string& pid : os::list("/proc")) {
    const auto number = to_number<pid_t>(pid);
    if (!number) continue;
    const auto environment = os::read_file("/proc/" + pid + "/environ");
    const auto has = [&](const std::string& text) {
      return environment && environment->find(text) != std::string::npos;
    };
    if (has(cluster_.conf()) && has("SLURM_JOB_ID=") && has("SLURMD_NODENAME=" + node)) {
      ::kill(*number, SIGKILL);
    }
  }
}

bool Torture::kill_a_worker() const {
  std::vector<pid_t> workers;
  for (const std::string& pid : os::list("/proc")) {
    const auto number = to_number<pid_t>(pid);
    if (!number) continue;
    const auto line = os::read_file("/proc/" + pid + "/cmdline");
    const bool works = line && line->find("exec") != std::string::npos &&
                       line->find(state_ + "/runs/") != std::string::npos;
    if (works && line->starts_with(program())) workers.push_back(*number);
  }
  if (workers.empty()) return false;
  return ::kill(workers.front(), SIGKILL) == 0;
}

// PostgreSQL shows in the names of its processes what they do.
bool Torture::kill_during_commit() {
  for (const std::string& pid : os::list("/proc")) {
    const auto name = os::read_file("/proc/" + pid + "/cmdline");
    if (!name || !name->starts_with("postgres: ") || name->find(" COMMIT") == name->npos) continue;
    std::error_code gone;
    const auto works_in = std::filesystem::read_symlink("/proc/" + pid + "/cwd", gone);
    if (!works_in.string().starts_with(server_.folder())) continue;
    server_.kill();
    return true;
  }
  return false;
}

// The machines go on for so long, or until something is there.
void Torture::pass(double seconds, const std::function<bool()>& until) {
  int ticks = 0;
  for (double passed = 0; passed < seconds && !until(); passed += to_seconds(kTick)) {
    if (ticks++ % kTicksALook == 0) {
      for (Machine& machine : machines_) keep_busy(machine);
    }
    os::real_clock().sleep(kTick);
  }
}

void Torture::fill() const {
  const int file = ::open((state_ + "/fill").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const std::string block(1 << 16, 'x');
  while (::write(file, block.data(), block.size()) > 0) {
  }
  ::close(file);
}

// A file system with open files cannot be made read-only itself.
bool Torture::cover_read_only() const {
  const char* path = state_.c_str();
  return ::mount(path, path, "", MS_BIND, "") == 0 &&
         ::mount("", path, "", MS_BIND | MS_REMOUNT | MS_RDONLY, "") == 0 &&
         ::access(path, W_OK) != 0;
}

// What lasts is mended after a while; the rest is over at once.
void Torture::mend(const std::string& fault) {
  if (fault == "ctld" || fault == "dbd") cluster_.up(fault);
  if (fault == "slurmd" || fault == "node") cluster_.up("n1");
  if (fault == "ctld hangs") cluster_.signal("ctld", "CONT");
  if (fault == "dbd hangs") cluster_.signal("dbd", "CONT");
  if (fault == "postgres") server_.start();
  if (fault == "read-only") ::umount2(state_.c_str(), MNT_DETACH);
  if (fault == "full") ::unlink((state_ + "/fill").c_str());
  own_kill_ = false;
}

void Torture::inject(const std::string& fault) {
  bool met = true;
  if (fault == "cycle") {  // One of them decides.
    own_kill_ = true;
    for (Machine& one : machines_) one.cycle.signal(SIGKILL);
  }
  if (fault == "helper") {
    own_kill_ = true;
    machines_[0].helper.signal(SIGKILL);
  }
  if (fault == "worker") pass(kForTarget, [&] { return met = kill_a_worker(); });
  if (fault == "ctld") {  // Just after a submission: the controller has not saved it yet.
    const std::size_t before = sandbox_.list("state/runs").size();
    pass(kForTarget, [&] { return met = sandbox_.list("state/runs").size() > before; });
  }
  if (fault == "ctld" || fault == "dbd") cluster_.signal(fault, "KILL");
  if (fault == "slurmd" || fault == "node") cluster_.signal("n1", "KILL");
  if (fault == "node") kill_jobs_of_node("n1");
  if (fault == "postgres") {
    pass(kForTarget, [&] { return met = kill_during_commit(); });
    if (!met) server_.kill();
  }
  if (fault == "full") fill();
  if (fault == "read-only") met = cover_read_only();
  if (fault == "ctld hangs") cluster_.signal("ctld", "STOP");
  if (fault == "dbd hangs") cluster_.signal("dbd", "STOP");
  faults_[fault] += met ? 1 : 0;
}

// From the first, what starts dies at the fault's point: before the fault, in it or after it.
void Torture::have(const Fault& fault) {
  const auto never = [] { return false; };
  propose(kIdeasAFault);
  fault_ = fault;
  died_ = false;
  std::printf("%d arms: %s, death at %s\n", arms_run(), fault.name.c_str(), fault.point.c_str());
  pass(fault.after_s, never);
  inject(fault.name);
  pass(fault.name.ends_with("hangs") ? kHangs : fault.lasts_s, never);
  mend(fault.name);
  pass(kForDeath, [&] { return died_; });
  fault_ = {};
}

// All is well again. Without a budget nothing is started, and what is in flight is collected.
void Torture::settle() {
  for (Machine& machine : machines_) stop(machine);
  // A node that comes up says what it runs: the controller forgets jobs that ended while it was
  // away, which it would else end at their time limit.
  for (const char* node : {"n1", "n2"}) {
    cluster_.signal(node, "KILL");
    cluster_.up(node);
  }
  run({"scontrol", "update", "nodename=n[1-2]", "state=resume"}, variables(), "/tmp");
  configure("[budget]\naccelerator_hours = 0.000001\n");
  Outcome last = on(machines_[0], {"cycle", "--watch"});
  for (int i = 0; i < 20 && last.code == 5; ++i) {  // The lease of one that was killed expires.
    pause(1);
    last = on(machines_[0], {"cycle", "--watch"});
  }
  EXPECT_TRUE(last.code == 4 || last.code == 0) << last.code << last.out << last.err;
  configure("");
}

void Torture::expect_one_fate_each() {
  std::map<std::string, int> fates;
  const std::string exported = on(machines_[0], {"ledger", "export"}).out;
  std::istringstream lines(exported);
  std::map<std::string, int> verdicts;
  for (std::string line; std::getline(lines, line);) {
    const Json event = Json::parse(line);
    const std::string kind = event.at("kind");
    const std::string subject = event.at("subject");
    if (kind == "run.reserved") fates.emplace(subject, 0);
    if (kind == "run.collected" || kind == "run.voided") ++fates[subject];
    if (kind == "verdict.recorded") ++verdicts[subject];
  }
  for (const auto& [run, times] : fates) EXPECT_EQ(times, 1) << run;
  for (const auto& [idea, times] : verdicts) EXPECT_EQ(times, 1) << idea;
  EXPECT_GE(fates.size(), static_cast<std::size_t>(pairs_));
  std::printf("%zu reservations, %zu verdicts\n", fates.size(), verdicts.size());
}

void Torture::expect_arms_at_most_once() const {
  std::set<std::string> arms;
  std::istringstream log(sandbox_.read("runs.log"));
  for (std::string arm; std::getline(log, arm);) {
    EXPECT_TRUE(arms.insert(arm).second) << arm << " ran twice";
  }
  std::printf("%zu arms ran\n", arms.size());
}

void Torture::expect_equal_replicas() {
  const std::string first = on(machines_[0], {"ledger", "export"}).out;
  for (const Machine& machine : machines_) {
    const Outcome verified = on(machine, {"ledger", "verify"});
    EXPECT_EQ(verified.code, 0) << machine.name << verified.out << verified.err;
    EXPECT_EQ(on(machine, {"ledger", "export"}).out, first) << machine.name;
  }
}

// Of each job that accounting knows to its end: one accelerator, for so long. A slurmctld that
// starts while slurmdbd is away leaves the GPU out of what accounting lists as allocated. One that
// is killed just after it reported the end of a job does not know of that end: for it the job goes
// on, until its node is found not to have it, and accounting gets this later end. Such a run was
// charged before; nothing else is an excuse.
void Torture::expect_charges() {
  std::map<std::string, Bill> bills = bills_of_slurm(cluster_.conf());
  std::map<std::string, std::string> jobs;
  std::map<std::string, double> spent;
  std::map<std::string, double> charged_at;
  std::istringstream lines(on(machines_[0], {"ledger", "export"}).out);
  for (std::string line; std::getline(lines, line);) {
    const Json event = Json::parse(line);
    const Json& payload = event.at("payload");
    if (event.at("kind") == "run.submitted") {
      const std::string worker = payload.at("worker_run_id");
      const auto parts = split(worker, ':');
      const bool shares = worker.find('/') != worker.npos;
      if (!shares && parts.size() == 3) jobs[event.at("subject")] = std::string(parts[2]);
    }
    if (payload.contains("spent_accelerator_s")) {
      spent[event.at("subject")] = payload.at("spent_accelerator_s");
      charged_at[event.at("subject")] = 1e-9 * event.at("at_ns").get<double>();
    }
  }
  int compared = 0;
  int rewritten = 0;
  for (const auto& [reservation, job] : jobs) {
    const Bill& bill = bills[job];
    if (bill.records == 0) continue;
    ++compared;
    const bool differs = std::abs(spent[reservation] - bill.seconds) > 1.01;
    if (differs && charged_at[reservation] < bill.ended - 1) {
      ++rewritten;
      std::printf("charged %.0f s, rewritten: %s", spent[reservation], bill.told.c_str());
      continue;
    }
    EXPECT_NEAR(spent[reservation], bill.seconds, 1.01) << reservation << '\n' << bill.told;
  }
  std::printf("%d charges compared, of %zu jobs; %d of them accounting changed later\n", compared,
              jobs.size(), rewritten);
  EXPECT_LE(rewritten, faults_["ctld"] + faults_["ctld hangs"]);
  EXPECT_GT(compared, pairs_ / 2);
}

TEST_F(Torture, LosesNothingRunsNothingTwiceAndChargesWhatSlurmDid) {
  std::vector<Fault> plan = plan_->faults(all_);
  const Nanos end = os::real_clock().monotonic() + limit_;
  std::size_t had = 0;
  for (; had < plan.size() && os::real_clock().monotonic() < end; ++had) have(plan[had]);
  std::printf("%zu of %zu faults in the time given\n", had, plan.size());
  plan.resize(had);
  const int most_s = 120 + 10 * pairs_;
  pass(most_s, [&] { return arms_run() >= 2 * pairs_; });
  EXPECT_GE(arms_run(), 2 * pairs_) << "it does not go on";
  for (const auto& [fault, times] : faults_) std::printf("%s: %d\n", fault.c_str(), times);
  for (const auto& [code, times] : exits_) std::printf("cycles with exit %d: %d\n", code, times);
  std::printf("death at the point during %d of %zu faults, at %zu of %zu points\n", met_,
              plan.size(), points_.size(), fault_points().size());
  settle();
  expect_one_fate_each();
  expect_arms_at_most_once();
  expect_equal_replicas();
  expect_charges();
  // Each fault met what it is meant for. Not every point is passed while a fault lasts.
  EXPECT_GE(met_, static_cast<int>(plan.size()) / 5);
  for (const Fault& fault : plan) EXPECT_GE(faults_[fault.name], 1) << fault.name;
  // Done, the lease of another, a ledger or disk that is away, killed.
  for (const auto& [code, times] : exits_) {
    EXPECT_TRUE(code == 0 || code == 3 || code == 5 || code == kKilled) << code << " " << times;
  }
}

}  // namespace
}  // namespace amdahl::e2e
