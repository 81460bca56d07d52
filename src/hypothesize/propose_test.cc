#include "hypothesize/propose.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/text.h"
#include "hypothesize/knob.h"
#include "model/plan.h"
#include "profile/ceiling.h"

namespace amdahl::hypothesize {
namespace {

model::Knob flag(std::string name, std::string arg, std::string value) {
  model::Knob knob;
  knob.name = std::move(name);
  knob.arg = std::move(arg);
  knob.value = std::move(value);
  return knob;
}

// An evaluation job as it is found: small batches, everything in its way.
model::Spec job() {
  model::Spec spec;
  spec.family = "evaluate";
  spec.command = {"python3", "job.py", "--batch", "8", "--threads", "2", "--verify"};
  spec.workdir = "/tmp";
  spec.accelerators = 2;
  spec.env = {{"OMP_WAIT_POLICY", "active"}};
  model::Knob batch = flag("batch_size", "--batch", "8");
  batch.aliases = {"-b"};
  batch.max = 64;
  spec.knobs["batch_size"] = batch;
  spec.knobs["threads"] = flag("threads", "--threads", "2");
  model::Knob cache = flag("decoded_cache", "--cache", "");
  cache.on = "{state}/decoded";
  spec.knobs["decoded_cache"] = cache;
  spec.knobs["verify_inputs"] = flag("verify_inputs", "--verify", "");
  spec.knobs["fsync"] = flag("fsync", "--fsync", "1");
  model::Knob workers;
  workers.name = "loader_workers";
  workers.env = "WORKERS";
  workers.value = "0";
  spec.knobs["loader_workers"] = workers;
  model::Knob every;
  every.name = "log_every";
  every.config = "job.json#log.every";
  every.value = "1";
  spec.knobs["log_every"] = every;
  return spec;
}

model::Profile slow_profile() {
  model::Profile profile;
  profile.id = "p-1";
  profile.family = "evaluate";
  profile.accelerators = 2;
  profile.evidence = {
      {"accelerators", 2},       {"idle_share", 0.4},       {"low_share", 0.2},
      {"productive_share", 0.4}, {"input_wait_share", 0.3}, {"startup_share", 0.2},
      {"compute_share", 0.35},   {"serial_share", 0.1},     {"logging_share", 0.05},
  };
  profile.bottleneck = model::Bottleneck::kInput;
  return profile;
}

Entry entry(std::string id, std::map<std::string, std::string> knobs) {
  Entry result;
  result.id = id;
  result.title = "the " + id;
  result.bottleneck = model::Bottleneck::kInput;
  result.explains = {"input_wait_share"};
  result.mechanism = "it waits less";
  result.knobs = std::move(knobs);
  return result;
}

std::string resolved(const Entry& from, const model::Spec& spec, const model::Change& baseline) {
  std::string because;
  const auto change = resolve(from, spec, baseline, because);
  return change ? model::describe(*change) : because;
}

TEST(Resolve, InjectionsCountSlotsAndStackOnOthers) {
  Entry workers = entry("e", {});
  workers.inject = {{"loader-workers", "{cpus}"}};
  EXPECT_EQ(resolved(workers, job(), {}), "injected loader-workers 2");
  model::Change there;
  there.inject = {{"loader-workers", "2"}, {"gc-seldom", ""}};
  EXPECT_EQ(resolved(workers, job(), there), "the job already has all of it");
  workers.inject["loader-workers"] = "1";
  const auto change = resolve(workers, job(), there);
  ASSERT_TRUE(change);
  EXPECT_EQ(model::describe(model::combine(there, *change)),
            "injected gc-seldom, injected loader-workers 1");
}

TEST(Resolve, WhatChangesTheResultOrCannotBeTakenIsNotTried) {
  model::Spec spec = job();
  spec.knobs["batch_size"].effect = "semantic";
  EXPECT_EQ(resolved(entry("e", {{"batch_size", "x4"}}), spec, {}),
            "knob batch_size changes the results (effect = \"semantic\" in the spec)");
  spec.knobs["precision"].arg = "--dtype";
  spec.knobs["precision"].value = "float32";
  spec.knobs["precision"].choices = {"float32", "bfloat16"};
  EXPECT_EQ(resolved(entry("e", {{"precision", "=tf32"}}), spec, {}),
            "knob precision takes float32, bfloat16, not tf32");
  EXPECT_EQ(resolved(entry("e", {{"precision", "=bf16"}}), spec, {}), "--dtype bfloat16");
}

TEST(Resolve, KnobOperations) {
  struct Case {
    std::string knob;
    std::string operation;
    std::string want;
  };
  const Case cases[] = {
      {"batch_size", "x4", "--batch 32"},
      {"batch_size", "x32", "--batch 64"},
      {"batch_size", "/2", "--batch 4"},
      {"batch_size", "=16", "--batch 16"},
      {"batch_size", "=08", "the job already has all of it"},
      {"batch_size", "=128", "128 is outside the bounds of knob batch_size (any to 64)"},
      {"threads", "=accelerators", "knob threads is already at its limit (2)"},
      {"threads", "=1", "--threads 1"},
      {"decoded_cache", "on", "--cache '{state}/decoded'"},
      {"decoded_cache", "off", "knob decoded_cache is already at its limit (off)"},
      {"decoded_cache", "x2", "the current value of knob decoded_cache is unknown, not a number"},
      {"verify_inputs", "off", "without --verify"},
      {"verify_inputs", "on", "knob verify_inputs is already at its limit (on)"},
      {"fsync", "off", "--fsync 0"},
      {"fsync", "on", "knob fsync is already at its limit (1)"},
      {"loader_workers", "+2", "WORKERS=2"},
      {"loader_workers", "=0", "knob loader_workers is already at its limit (0)"},
      {"loader_workers", "x2", "knob loader_workers is already at its limit (0)"},
      {"log_every", "x50", "job.json#log.every = 50"},
      {"prefetch_factor", "x4", "the job has no knob prefetch_factor"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.knob + " " + c.operation);
    EXPECT_EQ(resolved(entry("e", {{c.knob, c.operation}}), job(), {}), c.want);
  }
}

TEST(Resolve, ThePresentValueIsTheBaselines) {
  model::Change baseline;
  baseline.args["-b"] = "16";  // By its alias.
  baseline.env["WORKERS"] = "4";
  baseline.config["job.json#log.every"] = "10";
  baseline.args["--verify"] = std::nullopt;
  EXPECT_EQ(resolved(entry("e", {{"batch_size", "x2"}}), job(), baseline), "--batch 32");
  EXPECT_EQ(resolved(entry("e", {{"loader_workers", "x2"}}), job(), baseline), "WORKERS=8");
  EXPECT_EQ(resolved(entry("e", {{"log_every", "x5"}}), job(), baseline),
            "job.json#log.every = 50");
  EXPECT_EQ(resolved(entry("e", {{"verify_inputs", "off"}}), job(), baseline),
            "knob verify_inputs is already at its limit (off)");
}

TEST(Resolve, VariablesOnlyWhereTheyDiffer) {
  Entry wait = entry("wait", {});
  wait.env = {{"OMP_WAIT_POLICY", "passive"}, {"OMP_NUM_THREADS", "{accelerators}"}};
  EXPECT_EQ(resolved(wait, job(), {}), "OMP_NUM_THREADS=2, OMP_WAIT_POLICY=passive");
  model::Change baseline;
  baseline.env["OMP_NUM_THREADS"] = "2";
  EXPECT_EQ(resolved(wait, job(), baseline), "OMP_WAIT_POLICY=passive");
  baseline.env["OMP_WAIT_POLICY"] = "PASSIVE";  // libgomp reads both spellings.
  EXPECT_EQ(resolved(wait, job(), baseline), "the job already has all of it");
}

TEST(Resolve, ListsGrowByOneItem) {
  Entry list = entry("list", {});
  list.env = {{"GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"}, {"LD_PRELOAD", "libjemalloc.so.2"}};
  model::Spec spec = job();
  spec.env["LD_PRELOAD"] = "libhook.so";
  spec.env["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=0:glibc.malloc.arena_max=2";
  EXPECT_EQ(resolved(list, spec, {}),
            "GLIBC_TUNABLES=glibc.malloc.arena_max=2:glibc.malloc.hugetlb=1, "
            "LD_PRELOAD=libhook.so:libjemalloc.so.2");
  spec.env["LD_PRELOAD"] = "libjemalloc.so.2";
  spec.env["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1";
  EXPECT_EQ(resolved(list, spec, {}), "the job already has all of it");
}

TEST(Resolve, AcceleratorsAreGivenBackButNeverTheLast) {
  Entry half = entry("half", {{"threads", "=accelerators"}});
  half.resources = {{"accelerators", "/2"}};
  EXPECT_EQ(resolved(half, job(), {}), "--threads 1, 1 accelerator");
  model::Change baseline;
  baseline.accelerators = 1;
  EXPECT_EQ(resolved(half, job(), baseline), "the job has 1 accelerator and cannot release any");
  model::Spec eight = job();
  eight.accelerators = 8;
  half.resources = {{"accelerators", "-1"}};
  half.knobs.clear();
  EXPECT_EQ(resolved(half, eight, {}), "7 accelerators");
  half.resources = {{"accelerators", "=1"}};
  EXPECT_EQ(resolved(half, eight, {}), "1 accelerator");
  half.resources = {{"accelerators", "=16"}};
  EXPECT_EQ(resolved(half, eight, {}), "the job has 8 accelerators and cannot release any");
}

TEST(Resolve, AWrapperIsPutOnOnce) {
  Entry wrap = entry("wrap", {});
  wrap.wrap = {"numactl", "--interleave=all"};
  EXPECT_EQ(resolved(wrap, job(), {}), "under numactl --interleave=all");
  model::Change baseline;
  baseline.wrap = {"nice", "numactl", "--localalloc"};
  EXPECT_EQ(resolved(wrap, job(), baseline), "the job already has all of it");
}

TEST(Propose, RanksByPriorTimesGainAndRecordsTheCeiling) {
  Entry cache = entry("cache", {{"decoded_cache", "on"}});
  cache.effectiveness = 0.7;
  cache.prior = 0.5;
  cache.touches = {"startup_share"};
  Entry batch = entry("batch", {{"batch_size", "x4"}});
  batch.explains = {"compute_share", "input_wait_share", "sync_share"};  // The last is not known.
  batch.effectiveness = 0.2;
  batch.prior = 0.4;
  const Entry playbook[] = {batch, cache};
  const Proposals proposals = propose(job(), {}, slow_profile(), playbook, "cpu");
  ASSERT_EQ(proposals.ranked.size(), 2U);
  const model::Hypothesis& first = proposals.ranked[0];
  EXPECT_EQ(first.title, "the cache");
  EXPECT_DOUBLE_EQ(first.predicted_gain, 0.21);
  EXPECT_DOUBLE_EQ(first.ceiling_share, 0.5);
  EXPECT_EQ(first.origin.kind, "playbook");
  EXPECT_EQ(first.origin.ref, "cache");
  EXPECT_EQ(first.family, "evaluate");
  EXPECT_EQ(first.profile, "p-1");
  EXPECT_EQ(first.key, model::key(job(), {}, first.change, "cpu"));
  EXPECT_EQ(first.id, "h-" + sha256_hex(first.key).substr(0, 10));
  const model::Hypothesis& second = proposals.ranked[1];
  EXPECT_DOUBLE_EQ(second.predicted_gain, 0.2 * 0.65);
  EXPECT_DOUBLE_EQ(second.ceiling_share, 0.65);
  EXPECT_TRUE(proposals.skipped.empty());
}

TEST(Propose, WhatOthersTookOfTheTimeMayHaveHeldUpAnyCause) {
  struct Case {
    const char* name;
    std::map<std::string, double> evidence;
    double taken;
  };
  const Case cases[] = {
      {"nothing known", {}, 0},
      {"a quiet host", {{"cpu_wait_share", 0.01}, {"foreign_cpu_cores", 0.1}}, 0.01},
      {"others all the time", {{"cpu_wait_share", 0.4}, {"foreign_cpu_cores", 2}}, 0.4},
      {"its own threads",
       {{"cpu_wait_share", 0.8}, {"foreign_cpu_cores", 0.1}, {"busy_cores", 1.9}},
       0.05},
      {"whose is not known", {{"cpu_wait_share", 0.3}, {"busy_cores", 1.9}}, 0.3},
      {"only the host's clock", {{"psi_cpu_some", 0.2}, {"foreign_cpu_cores", 2}}, 0.2},
      {"its own clock counts", {{"cpu_wait_share", 0.1}, {"psi_cpu_some", 0.9}}, 0.1},
      {"a hypervisor", {{"cpu_wait_share", 0.1}, {"steal_share", 0.2}}, 0.3},
      {"not more than all", {{"cpu_wait_share", 0.9}, {"steal_share", 0.2}}, 1},
  };
  Entry cache = entry("cache", {{"decoded_cache", "on"}});
  cache.effectiveness = 0.7;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    model::Profile profile = slow_profile();
    for (const auto& [name, value] : c.evidence) profile.evidence[name] = value;
    EXPECT_DOUBLE_EQ(profile::taken_by_others(profile.evidence), c.taken);
    const Proposals proposals = propose(job(), {}, profile, {{cache}}, "cpu");
    ASSERT_EQ(proposals.ranked.size(), 1U);
    EXPECT_DOUBLE_EQ(proposals.ranked[0].ceiling_share, std::min(0.99, 0.3 + c.taken));
    EXPECT_DOUBLE_EQ(proposals.ranked[0].predicted_gain, 0.21) << "what is expected stays";
  }
}

TEST(Propose, TheCeilingNeverReachesOne) {
  Entry all = entry("all", {{"batch_size", "x4"}});
  all.explains = {"idle_share", "low_share", "productive_share", "startup_share"};
  all.effectiveness = 1;
  const Proposals proposals = propose(job(), {}, slow_profile(), {{all}}, "cpu");
  ASSERT_EQ(proposals.ranked.size(), 1U);
  EXPECT_DOUBLE_EQ(proposals.ranked[0].ceiling_share, 0.99);
  EXPECT_DOUBLE_EQ(proposals.ranked[0].predicted_gain, 0.99);
}

TEST(Propose, RightSizingGainsTheShareGivenBack) {
  Entry half = entry("half", {});
  half.resources = {{"accelerators", "/2"}};
  half.explains = {};
  half.effectiveness = 0.6;
  const Proposals proposals = propose(job(), {}, slow_profile(), {{half}}, "cpu");
  ASSERT_EQ(proposals.ranked.size(), 1U);
  EXPECT_DOUBLE_EQ(proposals.ranked[0].predicted_gain, 0.3);
  EXPECT_DOUBLE_EQ(proposals.ranked[0].ceiling_share, 0.5);
}

TEST(Propose, EverySkippedEntryHasItsReason) {
  Entry condition = entry("condition", {{"batch_size", "x4"}});
  condition.when = {{"input_wait_share", ">", 0.5}};
  Entry small = entry("small", {{"batch_size", "x4"}});
  small.explains = {"logging_share"};
  small.effectiveness = 0.1;
  Entry needs = entry("needs", {{"batch_size", "x4"}});
  needs.needs = {"numactl"};
  const Entry playbook[] = {condition, small, needs, entry("knob", {{"compile", "on"}})};
  const Proposals proposals =
      propose(job(), {}, slow_profile(), playbook, "cpu", {.absent = {"numactl"}});
  EXPECT_TRUE(proposals.ranked.empty());
  ASSERT_EQ(proposals.skipped.size(), 4U);
  EXPECT_EQ(proposals.skipped[0].title, "the condition");
  EXPECT_EQ(proposals.skipped[0].because,
            "condition input_wait_share > 0.5 does not hold (" + show_number(0.3) + ")");
  EXPECT_EQ(proposals.skipped[1].because,
            fmt::format("predicted gain {} is below the minimum {} (ceiling {})",
                        show_percent(0.005), show_percent(0.01), show_percent(0.05)));
  EXPECT_EQ(proposals.skipped[2].because, "it needs numactl, which is not available");
  EXPECT_EQ(proposals.skipped[3].because, "the job has no knob compile");
  EXPECT_EQ(needs_of(playbook), std::vector<std::string>{"numactl"});
  EXPECT_EQ(propose(job(), {}, slow_profile(), {{needs}}, "cpu").ranked.size(), 1U);
}

TEST(Propose, OneChangeUnderTwoSpellingsAppearsOnce) {
  Entry by_flag = entry("by-flag", {{"batch_size", "x32"}});  // Clamped to 64.
  by_flag.prior = 0.1;
  Entry by_bound = entry("by-bound", {{"batch_size", "=64.0"}});
  by_bound.prior = 0.3;
  Entry lower_case = entry("lower-case", {});
  lower_case.env = {{"OMP_WAIT_POLICY", "passive"}};
  lower_case.prior = 0.2;
  Entry upper_case = entry("upper-case", {});
  upper_case.env = {{"OMP_WAIT_POLICY", "PASSIVE"}};
  upper_case.prior = 0.05;
  Entry by_knob = entry("by-knob", {{"loader_workers", "+4"}});
  Entry by_variable = entry("by-variable", {});
  by_variable.env = {{"WORKERS", "04"}};
  by_variable.prior = 0.14;
  const Entry playbook[] = {by_flag, by_bound, lower_case, upper_case, by_knob, by_variable};
  const Proposals proposals = propose(job(), {}, slow_profile(), playbook, "cpu");
  std::vector<std::string> kept;
  for (const auto& hypothesis : proposals.ranked) kept.push_back(hypothesis.origin.ref);
  EXPECT_EQ(kept, (std::vector<std::string>{"by-bound", "lower-case", "by-knob"}));
  std::vector<std::string> reasons;
  for (const Skipped& skipped : proposals.skipped) reasons.push_back(skipped.because);
  EXPECT_EQ(reasons, (std::vector<std::string>{
                         "same change as 'the by-knob' (WORKERS=04)",
                         "same change as 'the by-bound' (--batch 64)",
                         "same change as 'the lower-case' (OMP_WAIT_POLICY=PASSIVE)"}));
}

TEST(Propose, KnobConditionsAreJudgedOnTheBaseline) {
  Entry batch = entry("batch", {{"batch_size", "x4"}});
  batch.when = {{"knob.batch_size", "<=", 8}};
  model::Profile old = slow_profile();
  old.evidence["knob.batch_size"] = 8;  // As it was before the promotion.
  model::Change baseline;
  baseline.args["--batch"] = "32";
  const Proposals proposals = propose(job(), baseline, old, {{batch}}, "cpu");
  ASSERT_EQ(proposals.skipped.size(), 1U);
  EXPECT_EQ(proposals.skipped[0].because,
            "condition knob.batch_size <= 8 does not hold (" + show_number(32) + ")");
}

TEST(Propose, ANumberLeftToItsDefaultExistsAndComparesWithNothing) {
  model::Spec spec = job();
  model::Knob depth = flag("queue_depth", "--depth", "");
  depth.max = 64;
  spec.knobs["queue_depth"] = depth;
  const model::Profile present = on_baseline(slow_profile(), spec, {});
  const auto holds = [&](std::string_view text) {
    Entry one;
    one.when = {*parse_condition(text)};
    std::string because;
    return applies(one, present, because);
  };
  EXPECT_TRUE(holds("knob.queue_depth exists"));
  EXPECT_FALSE(holds("knob.queue_depth < 64"));
  EXPECT_FALSE(holds("knob.queue_depth >= 0"));
  EXPECT_FALSE(holds("knob.queue_depth != 3"));
  EXPECT_TRUE(holds("knob.verify_inputs == 1"));  // A bare flag of the command.
  EXPECT_TRUE(holds("knob.decoded_cache == 0"));
  EXPECT_TRUE(holds("knob.batch_size == 8"));
  EXPECT_TRUE(holds("env.OMP_WAIT_POLICY exists"));
  EXPECT_FALSE(holds("env.OMP_WAIT_POLICY == 1"));
  EXPECT_TRUE(holds("env.GOMP_SPINCOUNT missing"));
}

TEST(Propose, NoMoreThanAllowed) {
  const Entry playbook[] = {entry("a", {{"batch_size", "x2"}}), entry("b", {{"batch_size", "x4"}})};
  const Proposals proposals = propose(job(), {}, slow_profile(), playbook, "cpu", {.at_most = 1});
  EXPECT_EQ(proposals.ranked.size(), 1U);
  ASSERT_EQ(proposals.skipped.size(), 1U);
  EXPECT_EQ(proposals.skipped[0].because, "not among the 1 best");
}

TEST(FromChange, KeepsItAsWrittenOrSaysWhyNot) {
  model::Change change;
  change.args["-b"] = "032";
  change.args["--threads"] = "2";  // As it is.
  const auto hypothesis = from_change(job(), {}, change, {"person", "ada"}, "cpu");
  ASSERT_TRUE(hypothesis) << hypothesis.error().text;
  EXPECT_EQ(model::describe(hypothesis->change), "--batch 032, --threads 2");
  EXPECT_EQ(hypothesis->title, "--batch 032, --threads 2");
  model::Change plain;
  plain.args["--batch"] = "32";
  EXPECT_EQ(hypothesis->key, model::key(job(), {}, plain, "cpu"));
  EXPECT_EQ(hypothesis->origin.ref, "ada");
  EXPECT_EQ(hypothesis->predicted_gain, 0);

  EXPECT_EQ(from_change(job(), {}, {}, {"person", "ada"}, "cpu").error().text,
            "the change is empty");
  model::Change same;
  same.args["--threads"] = "2";
  EXPECT_EQ(from_change(job(), {}, same, {"person", "ada"}, "cpu").error().text,
            "the change does nothing: the baseline of evaluate already has it: --threads 2");
  model::Change twice;
  twice.args["-b"] = "32";
  twice.args["--batch"] = "64";
  EXPECT_FALSE(from_change(job(), {}, twice, {"person", "ada"}, "cpu"));
  model::Change secret;
  secret.env["AZURE_OPENAI_KEY"] = "hunter2";
  EXPECT_EQ(from_change(job(), {}, secret, {"person", "ada"}, "cpu").error().text,
            "the change seems to contain a secret (env/AZURE_OPENAI_KEY), which must not be "
            "stored: put it into the environment and write {env:NAME} instead");
  model::Change patch;
  patch.patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
  const auto impossible = from_change(job(), {}, patch, {"person", "ada"}, "cpu");
  ASSERT_FALSE(impossible);
  EXPECT_EQ(impossible.error().kind, Error::Kind::kBadInput);
}

// The shipped playbook on two jobs that we know.
TEST(Playbook, ATunedComputeBoundJobIsLeftAlmostAlone) {
  model::Spec spec;
  spec.family = "tuned";
  spec.command = {"./solve"};
  spec.accelerators = 8;
  model::Profile profile;
  profile.evidence = {
      {"wall_s", 600},
      {"accelerators", 8},
      {"idle_share", 0.03},
      {"low_share", 0.03},
      {"productive_share", 0.94},
      {"busy_cores", 7.6},
      {"cpu_system_share", 0.01},
      {"peak_threads", 9},
      {"threads_per_cpu", 1.1},
      {"voluntary_switches_per_s", 80},
      {"involuntary_switches_per_s", 15},
      {"minor_faults_per_s", 300},
      {"major_faults_per_s", 0},
      {"foreign_cpu_cores", 0.02},
      {"psi_cpu_some", 0.01},
      {"peak_rss_mb", 900},
      {"startup_share", 0.01},
      {"compute_share", 0.93},
      {"input_wait_share", 0.01},
  };
  profile.bottleneck = model::Bottleneck::kCompute;
  const auto playbook = embedded_playbook();
  ASSERT_TRUE(playbook);
  const Proposals quiet = propose(spec, {}, profile, *playbook, "cpu");
  std::string titles;
  for (const auto& hypothesis : quiet.ranked) titles += hypothesis.title + "; ";
  EXPECT_EQ(titles, "half of many accelerators, although all look busy; ")
      << "spinning looks like work: one pair on half of them tells";

  profile.evidence["minor_faults_per_s"] = 20000;
  profile.evidence["cpu_system_share"] = 0.12;
  const Proposals faulting =
      propose(spec, {}, profile, *playbook, "cpu", {.absent = {"libtcmalloc_minimal.so.4"}});
  EXPECT_GE(faulting.ranked.size(), 2U);
  EXPECT_LE(faulting.ranked.size(), 6U);
  for (const auto& hypothesis : faulting.ranked) {
    EXPECT_LE(hypothesis.prior, 0.15) << hypothesis.title;
    if (hypothesis.bottleneck == model::Bottleneck::kAllocation) continue;
    EXPECT_EQ(hypothesis.bottleneck, model::Bottleneck::kSerial) << hypothesis.title;
  }
}

TEST(Playbook, ASlowEvaluationGetsTheKnownWinsFirst) {
  const auto playbook = embedded_playbook();
  ASSERT_TRUE(playbook);
  const Proposals proposals = propose(job(), {}, slow_profile(), *playbook, "cpu");
  std::vector<std::string> first;
  for (const auto& hypothesis : proposals.ranked) {
    EXPECT_FALSE(model::is_empty(hypothesis.change));
    EXPECT_LE(hypothesis.predicted_gain, hypothesis.ceiling_share) << hypothesis.title;
    EXPECT_GE(hypothesis.predicted_gain, 0.01) << hypothesis.title;
    if (first.size() < 4) first.push_back(hypothesis.origin.ref);
  }
  for (const std::string id : {"decoded-cache", "batch-x4", "right-size-half-threads"}) {
    EXPECT_NE(std::ranges::find(first, id), first.end()) << id << " in " << join(first, " ");
  }
}

}  // namespace
}  // namespace amdahl::hypothesize
