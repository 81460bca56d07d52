#include <chrono>
#include <cmath>

#include <gtest/gtest.h>

#include "profile/classify.h"
#include "profile/testing.h"

namespace amdahl::profile {
namespace {

using model::Bottleneck;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Contention, ContentionIsOthersOrOnesOwnThreads) {
  // A quarter of the host is others', and the tasks waited 6 of 12 + 6 seconds.
  model::Receipt crowded_host = run(2, 0.6F);
  crowded_host.run_delay = seconds(6);
  crowded_host.noise.foreign_cpu_cores = 0.8;
  const model::Profile others = classify({}, crowded_host, {});
  expect_sane(others);
  EXPECT_EQ(others.bottleneck, Bottleneck::kContention) << others.rule;
  EXPECT_EQ(others.causes[0].id, "contention.host");
  EXPECT_NEAR(others.causes[0].share, 1.0 / 3, 1e-6);
  EXPECT_NEAR(others.evidence.at("cpu_wait_share"), 1.0 / 3, 1e-6);
  EXPECT_EQ(others.evidence.at("run_delay_s"), 6);

  // The same host, but its tasks did not wait: whoever did was not one of them.
  crowded_host.run_delay = milliseconds(20);
  crowded_host.noise.psi_cpu_some = 0.6;
  EXPECT_EQ(cause_of(classify({}, crowded_host, {}), Bottleneck::kContention), nullptr);

  // As much on other CPUs, while the job's own are always at it, takes nothing from it.
  model::Receipt apart = run(1, 0.99F);
  apart.noise = crowded_host.noise;
  apart.run_delay = seconds(2);
  EXPECT_EQ(cause_of(classify({}, apart, {}), Bottleneck::kContention), nullptr);

  // Eight that spin on two CPUs: each runs a quarter of the time.
  model::Receipt crowded_self = run(2, 1);
  crowded_self.peak_threads = 8;
  crowded_self.run_delay = seconds(60);
  const model::Profile own = classify({}, crowded_self, {});
  EXPECT_EQ(own.bottleneck, Bottleneck::kContention) << own.rule;
  EXPECT_EQ(own.causes[0].id, "contention.own_threads");
  EXPECT_NEAR(own.causes[0].share, 0.75, 1e-6);
  EXPECT_NEAR(own.evidence.at("own_threads_share"), 0.75, 1e-6);
  EXPECT_FALSE(others.evidence.contains("own_threads_share")) << "its threads are not to blame";
  EXPECT_EQ(own.causes[0].because,
            "the job's tasks waited for a CPU 75 % of the time; other processes used 0 cores, the "
            "job 2.00; 4.00 threads per CPU, 0 preemptions per second and CPU, steal 0.0 %: 15.0 "
            "of 20.0 accelerator-seconds");

  model::Receipt stolen = run(2, 0.95F);
  stolen.noise.steal_share = 0.2;
  EXPECT_EQ(classify({}, stolen, {}).causes[0].id, "contention.steal");
}

TEST(Contention, WithoutRunDelayTheHostsPressureStandsIn) {
  model::Receipt crowded_host = run(2, 0.6F);
  crowded_host.run_delay = {};
  crowded_host.noise.foreign_cpu_cores = 0.8;
  crowded_host.noise.psi_cpu_some = 0.6;
  const model::Profile others = classify({}, crowded_host, {});
  EXPECT_EQ(others.causes[0].id, "contention.host");
  EXPECT_NEAR(others.causes[0].share, 0.4, 1e-6);
  EXPECT_EQ(others.missing.at(0),
            "run_delay_s: /proc/PID/schedstat was not read; psi_cpu_some is used instead");

  model::Receipt crowded_self = run(2, 0.95F);
  crowded_self.run_delay = {};
  crowded_self.peak_threads = 8;
  crowded_self.involuntary_switches = 160'000;
  crowded_self.noise.psi_cpu_some = 0.4;
  const model::Profile own = classify({}, crowded_self, {});
  EXPECT_EQ(own.bottleneck, Bottleneck::kContention) << own.rule;
  EXPECT_EQ(own.causes[0].id, "contention.own_threads");
  EXPECT_NEAR(own.causes[0].share, 0.3, 1e-9);

  // Without PSI the preemptions stand in: 40 a second and CPU at 3 ms each.
  model::Receipt no_psi = run(1, 0.8F);
  no_psi.run_delay = {};
  no_psi.involuntary_switches = 400;
  no_psi.noise.foreign_cpu_cores = 0.9;
  no_psi.noise.psi_cpu_some = std::nan("");
  const model::Profile estimated = classify({}, no_psi, {});
  EXPECT_NEAR(estimated.evidence.at("contention_share"), 0.12, 1e-9);
  EXPECT_EQ(estimated.missing.at(0),
            "psi_cpu_some: /proc/pressure/cpu could not be read, or the run was too "
            "short");
}

TEST(Contention, AQuotaThatHoldsTheJobBackIsContention) {
  // One thread with 0.68 cores: it ran 6.8 s and was held back 3.2 s, which it waited.
  model::Receipt receipt = run(1, 0.68F);
  receipt.cgroup.quota_cores = 0.68;
  receipt.cgroup.throttled = milliseconds(3200);
  receipt.run_delay = milliseconds(3200);
  const model::Profile profile = classify({}, receipt, {});
  expect_sane(profile);
  EXPECT_EQ(profile.bottleneck, Bottleneck::kContention) << profile.rule;
  EXPECT_EQ(profile.causes[0].id, "contention.quota");
  EXPECT_EQ(profile.causes[0].because,
            "throttled by its own CPU quota for 3.20 s of 10.0 s (quota 0.68 cores, 3.20 s "
            "throttled summed over CPUs): 3.20 of 10.0 accelerator-seconds");
  EXPECT_NEAR(profile.evidence.at("throttled_share"), 0.32, 1e-6);
  EXPECT_NEAR(profile.evidence.at("throttled_s"), 3.2, 1e-9);
  EXPECT_EQ(profile.evidence.at("quota_cores"), 0.68);
  EXPECT_EQ(profile.evidence.at("cpu_wait_share"), 0) << "all that it waited was the quota";

  // Two threads on two CPUs with one core together: both are held back half of the time.
  model::Receipt two = run(2, 0.5F);
  two.cgroup.quota_cores = 1;
  two.cgroup.throttled = seconds(10);
  two.run_delay = seconds(10);
  EXPECT_NEAR(classify({}, two, {}).evidence.at("throttled_share"), 0.5, 1e-6);

  // A quota on a busy host takes both: of ten seconds it ran 3, was held back 3 and waited 4.
  model::Receipt worst = run(1, 0.3F);
  worst.cgroup.quota_cores = 0.3;
  worst.cgroup.throttled = seconds(3);
  worst.run_delay = seconds(7);
  worst.noise.foreign_cpu_cores = 1.7;
  const model::Profile both = classify({}, worst, {});
  expect_sane(both);
  EXPECT_EQ(both.causes.at(0).id, "contention.host");
  EXPECT_NEAR(both.causes[0].share, 0.7, 1e-6);
  EXPECT_EQ(both.causes[0].because,
            "the job's tasks waited for a CPU 40 % of the time; other processes used 1.70 cores, "
            "the job 0.3; 1.00 threads per CPU, 0 preemptions per second and CPU, steal 0.0 %; "
            "throttled by its own CPU quota for 3.00 s of 10.0 s (quota 0.3 cores, 3.00 s "
            "throttled summed over CPUs): 7.00 of 10.0 accelerator-seconds");
  EXPECT_EQ(both.causes.size(), 1U) << "and nothing is left to explain";

  // Others in the group were held back, not this job.
  model::Receipt idle = run(1, 0.1F);
  idle.cgroup = two.cgroup;
  idle.run_delay = milliseconds(10);
  EXPECT_NEAR(classify({}, idle, {}).evidence.at("throttled_share"), 0.001, 1e-6);
  EXPECT_FALSE(classify({}, run(1, 1), {}).evidence.contains("throttled_share")) << "no quota";
}

}  // namespace
}  // namespace amdahl::profile
