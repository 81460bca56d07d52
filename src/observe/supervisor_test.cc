#include "observe/supervisor.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/text.h"
#include "model/codec.h"
#include "observe/testing.h"

namespace amdahl::observe {
namespace {

using namespace std::chrono_literals;
using model::Ending;

using SupervisorTest = InFolder;

bool is_running(const std::string& pid_file) {
  const auto text = os::read_file(pid_file);
  if (!text) return false;
  const auto pid = to_number<pid_t>(trim(*text));
  return pid && ::kill(*pid, 0) == 0;
}

TEST_F(SupervisorTest, AnOrdinaryRunLeavesASealedReceipt) {
  const model::Receipt receipt = run(shell("echo hello; echo oops >&2; exit 0"));
  EXPECT_EQ(receipt.ending, Ending::kExited);
  EXPECT_EQ(receipt.code, 0);
  EXPECT_EQ(receipt.reason, "");
  EXPECT_EQ(receipt.id, "r-test/A");
  EXPECT_EQ(receipt.arm, "A");
  EXPECT_EQ(receipt.stdout_tail, "hello\n");
  EXPECT_EQ(receipt.stderr_tail, "oops\n");
  EXPECT_EQ(receipt.stdout_sha256, sha256_hex("hello\n"));
  EXPECT_EQ(receipt.accelerator_kind, "cpu slot");
  EXPECT_EQ(receipt.left_behind, 0);
  EXPECT_GT(receipt.wall, 0ns);
  EXPECT_GT(receipt.peak_rss_bytes, 0);
  EXPECT_EQ(receipt.host, os::host_name());
  EXPECT_TRUE(model::check_seal(receipt));
  model::Receipt forged = receipt;
  forged.wall /= 2;
  EXPECT_FALSE(model::check_seal(forged));
}

TEST_F(SupervisorTest, EndingsAreToldApart) {
  model::Receipt receipt = run(shell("exit 7"));
  EXPECT_EQ(receipt.ending, Ending::kExited);
  EXPECT_EQ(receipt.code, 7);
  EXPECT_EQ(receipt.reason, "exit 7");
  receipt = run(shell("kill -SEGV $$"));
  EXPECT_EQ(receipt.ending, Ending::kSignalled);
  EXPECT_EQ(receipt.code, SIGSEGV);
  EXPECT_EQ(receipt.reason, "killed by SIGSEGV");
}

TEST_F(SupervisorTest, WhatCannotBeStartedSaysWhy) {
  model::Receipt receipt = run(order({"no_such_program_here", "x"}));
  EXPECT_EQ(receipt.ending, Ending::kNotStarted);
  EXPECT_EQ(receipt.reason, "no such program: no_such_program_here");
  receipt = run(order({"./missing.sh"}));
  EXPECT_EQ(receipt.reason, "no such program: ./missing.sh");
  write("plain.txt", "not a program");
  receipt = run(order({"./plain.txt"}));
  EXPECT_EQ(receipt.reason, "cannot execute ./plain.txt: Permission denied");
  RunOrder elsewhere = shell("true");
  elsewhere.plan.workdir = path("nowhere");
  receipt = run(elsewhere);
  EXPECT_EQ(receipt.ending, Ending::kNotStarted);
  EXPECT_EQ(receipt.reason,
            "cannot enter the folder " + path("nowhere") + ": No such file or directory");
  RunOrder pinned = shell("true");
  pinned.cpus = {1000};
  EXPECT_EQ(run(pinned).reason, "cannot pin to the CPUs 1000: Invalid argument");
  EXPECT_TRUE(model::check_seal(receipt));
}

TEST_F(SupervisorTest, TheJobSeesItsFoldersItsVariablesAndNoInput) {
  ::setenv("OBSERVE_TEST_GONE", "inherited", 1);
  ::setenv("OBSERVE_TEST_KEPT", "inherited", 1);
  RunOrder made = order({"sh", "-c",
                         "pwd; echo $1; echo $MINE; echo $AMDAHL_OUT $AMDAHL_STATE "
                         "$AMDAHL_REPORT $AMDAHL_ACCELERATORS; echo [$OBSERVE_TEST_GONE]; "
                         "echo [$OBSERVE_TEST_KEPT]; wc -c; test -d {state} && echo there",
                         "sh", "{out}/x:{state}/y"});
  made.plan.env = {{"MINE", "{out}/mine"}};
  made.plan.unset = {"OBSERVE_TEST_GONE"};
  made.plan.accelerators = 2;
  const model::Receipt receipt = run(made);
  const std::string out = path("out");
  const std::string state = path("state");
  EXPECT_EQ(
      receipt.stdout_tail,
      fmt::format("{}\n{}/x:{}/y\n{}/mine\n{} {} {}/report.jsonl 2\n[]\n[inherited]\n0\nthere\n",
                  folder_, out, state, out, out, state, out));
  // The receipt keeps the placeholders: the same command in both arms.
  EXPECT_EQ(receipt.argv.back(), "{out}/x:{state}/y");
}

TEST_F(SupervisorTest, SignalsHaveTheirDefaultMeaningInTheJob) {
  const model::Receipt receipt = run(shell("grep -E 'Sig(Blk|Ign)' /proc/self/status"));
  EXPECT_EQ(receipt.stdout_tail, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_F(SupervisorTest, PinsToTheGivenCpus) {
  RunOrder made = shell("grep Cpus_allowed_list /proc/self/status");
  made.cpus = {os::usable_cpus().back()};
  const model::Receipt receipt = run(made);
  EXPECT_EQ(receipt.stdout_tail, fmt::format("Cpus_allowed_list:\t{}\n", made.cpus.front()));
  EXPECT_EQ(receipt.cpus, made.cpus);
}

TEST_F(SupervisorTest, WhatIsLeftBehindIsCountedAndKilled) {
  const model::Receipt receipt = run(shell("sleep 100 & echo $! > pid; exit 0"));
  EXPECT_EQ(receipt.ending, Ending::kExited);
  EXPECT_EQ(receipt.left_behind, 1);
  EXPECT_FALSE(is_running(path("pid")));
}

// Else the time of its last child, which writes the result, would be free.
TEST_F(SupervisorTest, TheClockRunsUntilTheLastChildHasEnded) {
  RunOrder made = shell("(sleep 0.15; echo 42 > {out}/result) & exit 0");
  made.outputs = {{"{out}/result"}};
  const model::Receipt receipt = run(made);
  EXPECT_EQ(receipt.left_behind, 0);
  EXPECT_TRUE(receipt.outputs[0].sha256);
  EXPECT_GE(receipt.wall, std::chrono::milliseconds(150));
  EXPECT_LT(run(shell("sleep 100 & exit 0")).wall, std::chrono::milliseconds(150))
      << "one that does not end by itself does nothing that is waited for";
}

// A sandboxed job cannot read what we can: no link of its may make us read it, or write there.
TEST_F(SupervisorTest, ALinkThatTheJobLeavesIsNotFollowed) {
  write("private", "the token is 4711\n");
  RunOrder made = shell(
      "cd {out}; rm -f stdout; for f in stdout stderr report.jsonl gpus.jsonl; do "
      "ln -sf ../private $f; done; ln -s ../private 1.pt.trace.json");
  made.work_pattern = "the token is";
  const model::Receipt receipt = run(made);
  EXPECT_EQ(receipt.code, 0) << receipt.stderr_tail;
  EXPECT_EQ(receipt.stdout_tail + receipt.stderr_tail, "");
  EXPECT_FALSE(receipt.stdout_sha256);
  EXPECT_FALSE(receipt.work);
  EXPECT_EQ(*os::read_file(path("private")), "the token is 4711\n");
}

TEST_F(SupervisorTest, ADaemonInItsOwnSessionDoesNotEscape) {
  const model::Receipt receipt =
      run(shell("setsid sh -c '(setsid sleep 100 & echo $! > pid) & exit 0'; sleep 0.1; exit 3"));
  EXPECT_EQ(receipt.code, 3);
  EXPECT_EQ(receipt.left_behind, 1);
  EXPECT_FALSE(is_running(path("pid")));
}

TEST_F(SupervisorTest, AForkStormEndsAtTheTimeLimit) {
  // Ignores the polite signal and keeps a dozen processes forking until killed.
  RunOrder made = order({"/usr/bin/python3", "-S", "-c",
                         "import os, signal, time\n"
                         "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                         "for i in range(12):\n"
                         "    if os.fork() == 0:\n"
                         "        if i % 2: os.setsid()\n"
                         "        while True:\n"
                         "            if os.fork(): os._exit(0)\n"
                         "            time.sleep(0.01)\n"
                         "while True:\n"
                         "    try: os.wait()\n"
                         "    except ChildProcessError: time.sleep(0.01)\n"});
  made.time_limit = 500ms;
  const model::Receipt receipt = run(made);
  EXPECT_EQ(receipt.ending, Ending::kTimeLimit);
  EXPECT_EQ(receipt.code, SIGKILL);
  EXPECT_EQ(receipt.reason, "over the time limit of " + show_duration(500ms));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST_F(SupervisorTest, TheMemoryLimitCountsTheWholeTree) {
  RunOrder made = order({"/usr/bin/python3", "-S", "-c",
                         "import os, time\nos.fork()\nx = b'x' * 60_000_000\ntime.sleep(60)\n"});
  made.memory_limit_mb = 100;
  const model::Receipt receipt = run(made);
  EXPECT_EQ(receipt.ending, Ending::kMemoryLimit);
  EXPECT_TRUE(receipt.reason.starts_with("over the memory limit of 100 MB: ")) << receipt.reason;
  EXPECT_GT(receipt.peak_rss_bytes, 100'000'000);
}

TEST_F(SupervisorTest, PeakMemoryIsOfThisRunAndNotOfAnEarlierOne) {
  run(order({"/usr/bin/python3", "-S", "-c", "x = b'x' * 200_000_000"}));
  EXPECT_LT(run(shell("true")).peak_rss_bytes, 100'000'000);
}

// Sends the signals to ourselves once the job has made its "ready" file.
std::thread when_ready(const std::string& file, std::vector<int> signals) {
  return std::thread([file, signals] {
    while (!os::exists(file)) os::real_clock().sleep(5ms);
    for (const int signal : signals) {
      ::kill(::getpid(), signal);
      os::real_clock().sleep(50ms);
    }
  });
}

TEST_F(SupervisorTest, CancellingPassesTheSignalOnAndEndsTheTree) {
  std::thread sender = when_ready(path("ready"), {SIGTERM});
  const model::Receipt receipt =
      run(shell("trap 'echo saving; exit 9' TERM; sleep 100 & echo $! > pid; touch ready; wait"));
  sender.join();
  EXPECT_EQ(receipt.ending, Ending::kCancelled);
  EXPECT_EQ(receipt.code, 9);
  EXPECT_EQ(receipt.reason, "cancelled by SIGTERM");
  EXPECT_EQ(receipt.stdout_tail, "saving\n");
  EXPECT_FALSE(is_running(path("pid")));
}

TEST_F(SupervisorTest, ASecondInterruptKillsAtOnce) {
  std::thread sender = when_ready(path("ready"), {SIGINT, SIGINT});
  const model::Receipt receipt = run(shell("trap '' INT; touch ready; sleep 100"));
  sender.join();
  EXPECT_EQ(receipt.ending, Ending::kCancelled);
  EXPECT_EQ(receipt.code, SIGKILL);
  EXPECT_LT(receipt.wall, 2s) << "it did not wait for the grace";
}

TEST_F(SupervisorTest, OtherSignalsArePassedOnAndEndNothing) {
  std::thread sender = when_ready(path("ready"), {SIGHUP, SIGUSR1, SIGUSR2});
  const model::Receipt receipt = run(shell(
      "trap 'echo hup' HUP; trap 'echo usr1' USR1; trap 'echo usr2; exit 0' USR2; touch ready; "
      "while true; do sleep 0.01; done"));
  sender.join();
  EXPECT_EQ(receipt.ending, Ending::kExited);
  EXPECT_EQ(receipt.stdout_tail, "hup\nusr1\nusr2\n");
}

TEST_F(SupervisorTest, TheReportIsReadAndOldOnesAreNot) {
  write("out/report.jsonl", "{\"work\": 999}\n");
  model::Receipt receipt = run(shell("true"));
  EXPECT_FALSE(receipt.work);
  receipt =
      run(shell("echo '{\"phase\": \"warm\"}' >> $AMDAHL_REPORT; sleep 0.2;"
                "echo '{\"phase\": \"work\"}' >> $AMDAHL_REPORT; sleep 0.1;"
                "echo rubbish >> $AMDAHL_REPORT;"
                "echo '{\"work\": 12, \"metric\": {\"loss\": 0.5}}' >> $AMDAHL_REPORT"));
  EXPECT_EQ(receipt.work, 12);
  EXPECT_EQ(receipt.metrics.at("loss"), 0.5);
  EXPECT_EQ(receipt.report_problems, std::vector<std::string>{"line 3: not JSON"});
  ASSERT_EQ(receipt.phases.size(), 2u);
  EXPECT_EQ(receipt.phases[0].name, "warm");
  EXPECT_GE(receipt.phases[0].duration, 150ms);
  EXPECT_EQ(receipt.phases[1].start + receipt.phases[1].duration, receipt.wall);
}

TEST_F(SupervisorTest, AReportWithoutEndIsCutAndAPipeInItsPlaceIsPassedOver) {
  model::Receipt receipt =
      run(shell("echo '{\"work\": 1}' > $AMDAHL_REPORT;"
                "head -c 70000000 /dev/zero >> $AMDAHL_REPORT"));
  EXPECT_FALSE(receipt.work);
  EXPECT_EQ(receipt.report_problems.at(0),
            "the report is longer than 64 MiB: its work and metrics are unknown");
  receipt = run(shell("mkfifo $AMDAHL_REPORT"));
  EXPECT_EQ(receipt.ending, Ending::kExited);
  EXPECT_FALSE(receipt.work);
}

TEST_F(SupervisorTest, WorkComesFromTheOutputOrIsFixed) {
  RunOrder made = shell("echo processed 64 images");
  made.work_pattern = "processed (\\d+)";
  made.fixed_work = 1;
  EXPECT_EQ(run(made).work, 64);
  made.work_pattern = "nothing like (it)";
  EXPECT_EQ(run(made).work, 1);
}

TEST_F(SupervisorTest, ReportedDevicesTakeThePlaceOfSamples) {
  RunOrder made = shell(
      "echo '{\"accelerator\": 0, \"from\": 0, \"to\": 1000, \"busy\": 0.25}' > $AMDAHL_REPORT");
  const model::Receipt receipt = run(made);
  EXPECT_EQ(receipt.utilisation.metric, "reported device busy");
  EXPECT_EQ(receipt.accelerator_kind, "device");
  EXPECT_FLOAT_EQ(receipt.utilisation.accelerators.at(0).at(0), 0.25F);
}

TEST_F(SupervisorTest, CpuSlotsFillInOrder) {
  RunOrder made = shell("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done");
  made.plan.accelerators = 2;
  const model::Receipt receipt = run(made);
  ASSERT_EQ(receipt.utilisation.accelerators.size(), 2u);
  EXPECT_EQ(receipt.utilisation.metric, "CPU slot");
  EXPECT_EQ(receipt.utilisation.interval, 20ms);
  const auto mean = [](const std::vector<float>& series) {
    return std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size());
  };
  const double cpu = to_seconds(receipt.cpu_user + receipt.cpu_system);
  // One busy thread: the first slot holds its time, whatever share of a core it was given.
  EXPECT_NEAR(mean(receipt.utilisation.accelerators[0]), cpu / to_seconds(receipt.wall), 0.15);
  EXPECT_LT(mean(receipt.utilisation.accelerators[1]), 0.1);
}

TEST_F(SupervisorTest, SecretsAreNotKept) {
  RunOrder made = order({"sh", "-c", "echo Authorization: Bearer abcdefghijklmnop123456",
                         "--api-key", "hunter2hunter2"});
  const model::Receipt receipt = run(made);
  EXPECT_EQ(receipt.stdout_tail.find("abcdefghijklmnop123456"), std::string::npos)
      << receipt.stdout_tail;
  EXPECT_EQ(receipt.argv.back(), "[redacted]");
}

TEST_F(SupervisorTest, AReferenceIsFilledInWhereTheJobStartsAndNowhereElse) {
  ::setenv("SUPERVISOR_TEST_PW", "xyzzy plugh", 1);
  RunOrder made = order({"sh", "-c", "echo \"$1 and $MY_PW\" > args; echo it is $1 now", "sh",
                         "--pw={env:SUPERVISOR_TEST_PW}"});
  made.plan.env["MY_PW"] = "<{env:SUPERVISOR_TEST_PW}>";
  const model::Receipt receipt = run(made);
  EXPECT_EQ(*os::read_file(path("args")), "--pw=xyzzy plugh and <xyzzy plugh>\n");
  EXPECT_EQ(receipt.argv.back(), "--pw={env:SUPERVISOR_TEST_PW}");
  EXPECT_EQ(receipt.stdout_tail, "it is --pw=[redacted] now\n");
  ::unsetenv("SUPERVISOR_TEST_PW");
  const auto without = supervise(made, os::real_clock());
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().text,
            "the job uses {env:SUPERVISOR_TEST_PW}, but SUPERVISOR_TEST_PW is not set in amdahl's "
            "environment");
}

TEST_F(SupervisorTest, ConfigurationIsChangedInACopy) {
  write("conf/job.json", R"({"data": {"batch": 8, "name": "7"}, "keep": [1, 2]})");
  RunOrder made =
      order({"sh", "-c", "cat $1; echo $2", "sh", "conf/job.json", "--config=conf/job.json"});
  made.plan.config = {{"conf/job.json#data.batch", "32"}, {"conf/job.json#data.name", "9"}};
  const model::Receipt receipt = run(made);
  EXPECT_NE(receipt.stdout_tail.find("\"batch\": 32"), std::string::npos) << receipt.stdout_tail;
  EXPECT_NE(receipt.stdout_tail.find("\"name\": \"9\""), std::string::npos);
  EXPECT_NE(receipt.stdout_tail.find("--config=" + path("out/config/")), std::string::npos);
  EXPECT_EQ(*os::read_file(path("conf/job.json")),
            R"({"data": {"batch": 8, "name": "7"}, "keep": [1, 2]})");
  write("conf/job.yaml", "data: {batch: 8, rate: 1.5}\n");
  RunOrder yaml = order({"cat", "conf/job.yaml"});
  yaml.plan.config = {{"conf/job.yaml#data.rate", "2"}};
  EXPECT_EQ(run(yaml).stdout_tail, "data: {batch: 8, rate: 2.0}\n");
  write("conf/job.toml", "[data]\nbatch = 8\nrate = 1.5\n");
  RunOrder toml = order({"cat", "conf/job.toml"});
  toml.plan.config = {{"conf/job.toml#data.batch", "16"}};
  EXPECT_EQ(run(toml).stdout_tail, "[data]\nbatch = 16\nrate = 1.5\n");
  const auto error_with = [&](const std::string& place) {
    RunOrder bad = made;
    bad.plan.config = {{place, "1"}};
    const auto got = supervise(bad, os::real_clock());
    return got ? "ok" : got.error().text;
  };
  EXPECT_EQ(error_with("conf/job.ini#a"),
            "conf/job.ini: only .json, .toml, .yaml, .yml files can be changed");
  EXPECT_EQ(error_with("conf/none.yaml#a"),
            "conf/none.yaml#a: " + path("conf/none.yaml") + ": no such file");
  EXPECT_EQ(error_with("conf/job.json#no.such"),
            "conf/job.json: no.such: no key \"no\" in the file");
  EXPECT_EQ(error_with("conf/job.json"), "config \"conf/job.json\" is not FILE#KEY");
  write("other.json", "{}");
  EXPECT_EQ(error_with("other.json#a"),
            "other.json: the command does not reference this file, so the job would not read a "
            "changed copy");
}

TEST_F(SupervisorTest, AFullDiskIsAnErrorAndNotACrash) {
  ASSERT_TRUE(os::make_dirs(path("small")));
  if (::mount("tmpfs", path("small").c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  }
  RunOrder made = shell("head -c 1000000 /dev/zero; sleep 100 & echo $! > pid; wait");
  made.out_dir = path("small/out");
  made.pass_output = true;
  const int ours = ::dup(STDOUT_FILENO);
  ASSERT_NE(std::freopen("/dev/null", "w", stdout), nullptr);
  const auto got = supervise(made, os::real_clock());
  ::dup2(ours, STDOUT_FILENO);
  ::close(ours);
  EXPECT_EQ(got ? "ok" : got.error().text, path("small/out/stdout") + ": No space left on device");
  EXPECT_FALSE(is_running(path("pid")));
  // The job's own trouble, when it writes to the file itself, is in the receipt.
  made.pass_output = false;
  made.plan.argv = {"sh", "-c", "head -c 1000000 /dev/zero"};
  EXPECT_NE(run(made).code, 0);
  ::umount(path("small").c_str());
}

TEST_F(SupervisorTest, GpusAreSampledThroughNvml) {
  ::setenv("AMDAHL_NVML_LIB", FAKE_NVML, 1);
  ::setenv("FAKE_NVML_BUSY", "70,20,40", 1);
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(gpu_count(), 3);
  EXPECT_EQ(hardware(), "gpu: 3 × NVIDIA Fake 100");
  RunOrder made = shell("echo $CUDA_VISIBLE_DEVICES; sleep 0.1");
  made.plan.accelerators = 2;
  model::Receipt receipt = run(made);
  EXPECT_EQ(receipt.accelerator_kind, "gpu");
  EXPECT_EQ(receipt.utilisation.metric, "NVML GPU_UTIL");
  EXPECT_EQ(receipt.stdout_tail, "0,1\n");
  EXPECT_FLOAT_EQ(receipt.utilisation.accelerators.at(0).at(0), 0.7F);
  EXPECT_FLOAT_EQ(receipt.utilisation.accelerators.at(1).at(0), 0.2F);
  made.plan.env["CUDA_VISIBLE_DEVICES"] = "2,GPU-00000000";
  receipt = run(made);
  EXPECT_FLOAT_EQ(receipt.utilisation.accelerators.at(0).at(0), 0.4F);
  EXPECT_FLOAT_EQ(receipt.utilisation.accelerators.at(1).at(0), 0.7F);
  made.plan.env["CUDA_VISIBLE_DEVICES"] = "";
  EXPECT_EQ(run(made).accelerator_kind, "cpu slot");
  EXPECT_FALSE(os::exists(path("out/gpus.jsonl")));
  ::setenv("FAKE_NVML_BROKEN", "1", 1);
  std::string why_not;
  EXPECT_EQ(gpu_count(&why_not), 0);
  EXPECT_EQ(why_not, std::string(FAKE_NVML) + ": nvmlInit_v2 failed with error 999");
  ::unsetenv("FAKE_NVML_BROKEN");
  ::setenv("AMDAHL_NVML_LIB", "/no/such/library.so", 1);
  EXPECT_EQ(gpu_count(&why_not), 0);
  EXPECT_EQ(why_not, "/no/such/library.so cannot be loaded: no NVIDIA driver is installed");
  ::unsetenv("AMDAHL_NVML_LIB");
}

TEST_F(SupervisorTest, WhatGpusHoldAndDrawIsOnRecord) {
  ::setenv("AMDAHL_NVML_LIB", FAKE_NVML, 1);
  ::setenv("FAKE_NVML_BUSY", "70,115", 1);
  ::setenv("FAKE_NVML_PIDS", fmt::format("{},2147480000", ::getpid()).c_str(), 1);
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  RunOrder made = shell("sleep 0.2");
  made.plan.accelerators = 2;
  const model::Receipt receipt = run(made);
  for (const char* name : {"AMDAHL_NVML_LIB", "FAKE_NVML_BUSY", "FAKE_NVML_PIDS"}) ::unsetenv(name);
  EXPECT_TRUE(std::isnan(receipt.utilisation.accelerators.at(1).at(0))) << "a lost GPU is not idle";
  const std::string text = *os::read_file(path("out/gpus.jsonl"));
  const auto rows = split(trim(text), '\n');
  ASSERT_GE(rows.size(), 3u) << text;
  EXPECT_EQ(rows[0],
            R"({"gpus":[{"gpu":0,"memory_total_bytes":80000000000,"name":"NVIDIA Fake 100",)"
            R"("uuid":"GPU-00000000-0000"},{"gpu":1,"name":"NVIDIA Fake 100",)"
            R"("uuid":"GPU-00000001-0000"}],"schema":1})");
  // We are no part of our own job, and of the other nobody knows whose it is.
  EXPECT_TRUE(rows[1].starts_with(
      fmt::format(R"({{"busy":0.7,"gpu":0,"memory_bytes":1000000000,"power_w":100.0,"processes":[)"
                  R"({{"memory_bytes":500000000,"ours":false,"pid":{}}},)"
                  R"({{"memory_bytes":500000000,"pid":2147480000}}],"t_ns":)",
                  ::getpid())))
      << rows[1];
  EXPECT_TRUE(rows[2].starts_with(R"({"gpu":1,"processes":[],"t_ns":)")) << rows[2];
  EXPECT_NE(rows[2].find(R"("trouble":"the GPU is lost")"), std::string_view::npos);
}

TEST_F(SupervisorTest, OutputIsCopiedWhenAsked) {
  testing::internal::CaptureStdout();
  RunOrder made = shell("echo to both");
  made.pass_output = true;
  const model::Receipt receipt = run(made);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "to both\n");
  EXPECT_EQ(*os::read_file(path("out/stdout")), "to both\n");
  EXPECT_EQ(receipt.stdout_tail, "to both\n");
}

TEST_F(SupervisorTest, TheHostAndTheObserverAreOnRecord) {
  int watched = 0;
  const auto got = supervise(shell("sleep 0.3"), os::real_clock(), [&](const Live&) { ++watched; });
  ASSERT_TRUE(got);
  EXPECT_GT(watched, 0);
  EXPECT_GT(got->observer_cpu, 0ns);
  EXPECT_FALSE(std::isnan(got->noise.load1));
  EXPECT_GE(got->noise.foreign_cpu_cores, 0);
  EXPECT_EQ(got->utilisation.accelerators.size(), 1u);
}

}  // namespace
}  // namespace amdahl::observe
