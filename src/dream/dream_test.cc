#include "dream/dream.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/text.h"
#include "dream/settings.h"
#include "model/plan.h"

namespace amdahl::dream {
namespace {

using model::Bottleneck;

model::Knob flag(std::string name, std::string arg, std::string value) {
  model::Knob knob;
  knob.name = std::move(name);
  knob.arg = std::move(arg);
  knob.value = std::move(value);
  return knob;
}

model::Knob variable(std::string name, std::string env, std::string value) {
  model::Knob knob;
  knob.name = std::move(name);
  knob.env = std::move(env);
  knob.value = std::move(value);
  return knob;
}

// The family that won: flags of its own.
model::Spec resize() {
  model::Spec spec;
  spec.family = "resize";
  spec.command = {"resize", "--bs", "1"};
  spec.accelerators = 4;
  spec.knobs["batch_size"] = flag("batch_size", "--bs", "1");
  spec.knobs["batch_size"].aliases = {"-b"};
  spec.knobs["threads"] = variable("threads", "OMP_NUM_THREADS", "4");
  spec.knobs["verify_inputs"] = flag("verify_inputs", "--verify", "");
  spec.knobs["decoded_cache"] = flag("decoded_cache", "--keep", "");
  spec.knobs["decoded_cache"].on = "{state}/pixels";
  spec.knobs["prefetch_factor"] = variable("prefetch_factor", "RESIZE_PREFETCH", "2");
  spec.knobs["queue_depth"] = flag("queue_depth", "--depth", "2");
  return spec;
}

// The family that dreams: the same ideas under other names.
model::Spec embed() {
  model::Spec spec;
  spec.family = "embed";
  spec.command = {"embed", "--threads", "2", "--check-inputs=1"};
  spec.accelerators = 2;
  model::Knob batch;
  batch.name = "batch_size";
  batch.config = "embed.json#batch";
  batch.value = "4";
  batch.max = 16;
  spec.knobs["batch_size"] = batch;
  spec.knobs["threads"] = flag("threads", "--threads", "2");
  spec.knobs["verify_inputs"] = flag("verify_inputs", "--check-inputs", "1");
  spec.knobs["decoded_cache"] = variable("decoded_cache", "EMBED_CACHE", "");
  spec.knobs["decoded_cache"].on = "{state}/decoded";
  return spec;
}

model::Profile profile() {
  model::Profile result;
  result.id = "p-9";
  result.family = "embed";
  result.bottleneck = Bottleneck::kInput;
  result.evidence = {{"accelerators", 2},       {"idle_share", 0.3},   {"productive_share", 0.5},
                     {"input_wait_share", 0.3}, {"serial_share", 0.2}, {"compute_share", 0.4}};
  model::Cause input;
  input.bottleneck = Bottleneck::kInput;
  input.share = 0.3;
  model::Cause contention;
  contention.bottleneck = Bottleneck::kContention;
  contention.share = 0.2;
  result.causes = {input, contention};
  return result;
}

Win win(model::Change change, Bottleneck bottleneck = Bottleneck::kInput) {
  Win result;
  result.hypothesis.id = "h-0123456789";
  result.hypothesis.family = "resize";
  result.hypothesis.bottleneck = bottleneck;
  result.hypothesis.change = std::move(change);
  result.hypothesis.title = "what won";
  result.hypothesis.mechanism = "It waits less. Here: input_wait_share 0.7.";
  result.gain = 0.2;
  result.against = bottleneck;
  return result;
}

Dreams dream_all(const std::vector<Win>& wins, const model::Change& baseline = {}) {
  const std::map<std::string, model::Spec> specs = {{"resize", resize()}, {"embed", embed()}};
  const model::Spec spec = embed();
  const model::Profile seen = profile();
  return from_wins(wins, specs, {spec, baseline, seen, "cpu"});
}

std::vector<model::Hypothesis> dream_of(const std::vector<Win>& wins) {
  return dream_all(wins).ideas;
}

// The change that the win becomes, or why it becomes none.
std::string dream_of(const model::Change& change) {
  const Dreams dreams = dream_all({win(change)});
  if (dreams.ideas.size() + dreams.left_out.size() != 1) return "neither taken nor left out";
  return dreams.ideas.empty() ? "left out: " + dreams.left_out[0].because
                              : model::describe(dreams.ideas[0].change);
}

TEST(FromWins, AChangeIsTranslatedThroughKnobNames) {
  struct Case {
    std::string name;
    model::Change change;
    std::string want;
  };
  model::Change flag_to_config;
  flag_to_config.args["--bs"] = "8";
  model::Change by_alias;
  by_alias.args["-b"] = "64";
  model::Change past_it;
  past_it.args["--bs"] = "2";
  model::Change variable_to_flag;
  variable_to_flag.env["OMP_NUM_THREADS"] = "1";
  model::Change switched_off;
  switched_off.args["--verify"] = std::nullopt;
  model::Change switched_on;
  switched_on.args["--keep"] = "{state}/pixels";
  model::Change free_variable;
  free_variable.env["OMP_WAIT_POLICY"] = "passive";
  model::Change half;
  half.accelerators = 2;
  model::Change no_such_knob;
  no_such_knob.args["--depth"] = "8";
  model::Change no_knob;
  no_knob.args["--secret-mode"] = "";
  model::Change partly;
  partly.args["--bs"] = "8";
  partly.args["--depth"] = "8";
  model::Change private_variable;
  private_variable.env["HOUSE_FAST_PATH"] = "1";
  model::Change private_knob;
  private_knob.env["RESIZE_PREFETCH"] = "4";
  model::Change patch;
  patch.patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
  const Case cases[] = {
      {"a flag there is a config key here", flag_to_config, "embed.json#batch = 8"},
      {"bounds here are kept", by_alias, "embed.json#batch = 16"},
      {"larger there must not become smaller here", past_it,
       "left out: embed already has at least that: batch_size = 4"},
      {"a variable there is a flag here", variable_to_flag, "--threads 1"},
      {"a bare flag taken away", switched_off, "--check-inputs 0"},
      {"a switch has its own value here", switched_on, "EMBED_CACHE={state}/decoded"},
      {"a variable is carried over", free_variable, "OMP_WAIT_POLICY=passive"},
      {"accelerators by their ratio", half, "1 accelerator"},
      {"a knob that is not here", no_such_knob,
       "left out: the spec of embed has no knob queue_depth"},
      {"a flag that is no knob", no_knob, "left out: --secret-mode is not a knob of resize"},
      {"not half of a win", partly, "left out: the spec of embed has no knob queue_depth"},
      {"a patch stays where it is", patch, "left out: it is a patch for another repository"},
      {"a variable of the house's own code", private_variable, "HOUSE_FAST_PATH=1"},
      {"a variable that is a knob there and none here", private_knob,
       "left out: the spec of embed has no knob prefetch_factor"},
      {"nothing", {}, "left out: the change is empty"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(dream_of(c.change), c.want);
  }
}

TEST(FromWins, SaysWhereItComesFromAndClaimsNoMoreThanTheClassCosts) {
  model::Change change;
  change.args["--bs"] = "8";
  Win large = win(change);
  large.gain = 1.5;
  const auto dreams = dream_of(std::vector{large});
  ASSERT_EQ(dreams.size(), 1U);
  EXPECT_EQ(dreams[0].origin.kind, "dream");
  EXPECT_EQ(dreams[0].origin.ref, "win h-0123456789 of resize");
  EXPECT_EQ(dreams[0].title, "what won");
  EXPECT_EQ(dreams[0].family, "embed");
  EXPECT_EQ(dreams[0].profile, "p-9");
  EXPECT_DOUBLE_EQ(dreams[0].predicted_gain, 0.3);
  EXPECT_EQ(dreams[0].ceiling_share, 0);
  EXPECT_EQ(dreams[0].mechanism, "It saved " + show_percent(1 - std::exp(-1.5)) +
                                     " of the cost of resize. It waits less.");
}

TEST(FromWins, OnlyOthersWinsOfAClassThatCostsSomethingHere) {
  model::Change change;
  change.env["OMP_WAIT_POLICY"] = "passive";
  EXPECT_EQ(dream_of(std::vector{win(change, Bottleneck::kCommunication)}).size(), 0U);
  EXPECT_EQ(dream_of(std::vector{win(change, Bottleneck::kContention)}).size(), 1U);
  Win own = win(change);
  own.hypothesis.family = "embed";
  EXPECT_EQ(dream_of(std::vector{own}).size(), 0U);
  Win unknown = win(change);
  unknown.hypothesis.family = "gone";
  EXPECT_EQ(dream_of(std::vector{unknown}).size(), 0U);
}

TEST(FromWins, TwoWinsUnderOtherSpellingsAreOneIdea) {
  model::Change small;
  small.env["OMP_WAIT_POLICY"] = "passive";
  model::Change capital;
  capital.env["OMP_WAIT_POLICY"] = "PASSIVE";
  Win better = win(capital);
  better.hypothesis.id = "h-better";
  better.gain = 0.25;
  const auto dreams = dream_of(std::vector{win(small), better});
  ASSERT_EQ(dreams.size(), 1U);
  EXPECT_EQ(dreams[0].origin.ref, "win h-better of resize");
}

TEST(FromWins, WhatTheBaselineHasIsNoIdea) {
  model::Change change;
  change.env["OMP_WAIT_POLICY"] = "passive";
  const Dreams dreams = dream_all({win(change)}, change);
  EXPECT_TRUE(dreams.ideas.empty());
  const RejectedIdea want{"OMP_WAIT_POLICY=passive", "win h-0123456789 of resize",
                          "the change does nothing: the baseline of embed already has it: "
                          "OMP_WAIT_POLICY=passive"};
  EXPECT_EQ(dreams.left_out, std::vector{want});
}

TEST(FromWins, AClassThatCostsLittleHereIsNotWorthATest) {
  model::Change change;
  change.args["--bs"] = "8";
  const Dreams dreams = dream_all({win(change, Bottleneck::kCommunication)});
  ASSERT_EQ(dreams.left_out.size(), 1U);
  EXPECT_EQ(dreams.left_out[0].because,
            "it fixed waiting for other ranks, which costs embed nothing");
}

TEST(FromWins, WhatOnlyTheOtherJobMayReadIsLessLikely) {
  model::Change own;
  own.env["HOUSE_FAST_PATH"] = "1";
  model::Change library;
  library.env["OMP_WAIT_POLICY"] = "passive";
  const auto doubtful = dream_of(std::vector{win(own)});
  const auto likely = dream_of(std::vector{win(library)});
  ASSERT_EQ(doubtful.size(), 1U);
  ASSERT_EQ(likely.size(), 1U);
  EXPECT_LT(doubtful[0].prior, likely[0].prior);
}

TEST(FromWins, APersonsIdeaIsCalledByItsChangeHere) {
  model::Change change;
  change.args["--bs"] = "8";
  Win idea = win(change);
  idea.hypothesis.title = model::describe(change);
  idea.hypothesis.mechanism.clear();
  const auto dreams = dream_of(std::vector{idea});
  ASSERT_EQ(dreams.size(), 1U);
  EXPECT_EQ(dreams[0].title, "embed.json#batch = 8");
  EXPECT_EQ(dreams[0].mechanism,
            "It saved " + show_percent(1 - std::exp(-0.2)) + " of the cost of resize.");
}

TEST(Settings, OnlyVariablesThatTuneAndConcreteValues) {
  struct Case {
    std::string text;
    std::string want;
  };
  const Case cases[] = {
      {"set `OMP_WAIT_POLICY=passive`, it helps", "OMP_WAIT_POLICY=passive"},
      {"export MALLOC_ARENA_MAX=2\nOMP_NUM_THREADS=4.", "MALLOC_ARENA_MAX=2 OMP_NUM_THREADS=4"},
      {"NCCL_SOCKET_IFNAME=\"^lo,docker0\"", "NCCL_SOCKET_IFNAME=^lo,docker0"},
      {"GLIBC_TUNABLES=glibc.malloc.hugetlb=1", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"},
      {"GLIBC_TUNABLES=glibc.cpu.x86_shstk=off", ""},
      {"GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.cpu.x86_shstk=off", ""},
      {"OMP_NUM_THREADS=N or OMP_NUM_THREADS=<n> or OMP_NUM_THREADS=$(nproc)", ""},
      {"OMP_NUM_THREADS=... and OMP_NUM_THREADS=", ""},
      {"MY_OMP_NUM_THREADS=4 $OMP_NUM_THREADS=4", ""},
      {"LD_PRELOAD=evil.so PATH=/tmp PYTHONPATH=/tmp HOME=x", ""},
      {"NCCL_NET_PLUGIN=evil NCCL_DEBUG_FILE=x OMP_TOOL_LIBRARIES=evil.so", ""},
      {"NCCL_TOPO_FILE=/tmp/x NCCL_DEBUG=INFO MALLOC_CHECK_=3 MALLOC_PERTURB_=7", ""},
      {"OMP_PLACES=/etc/passwd OMP_PLACES={0:4}", ""},
      {"CUDA_VISIBLE_DEVICES=0 CUDA_LAUNCH_BLOCKING=1", ""},
      {"x == y, a=b", ""},
      {"os.environ[\"OMP_NUM_THREADS\"] = \"1\"", "OMP_NUM_THREADS=1"},
      {"OMP_NUM_THREADS: '2'", "OMP_NUM_THREADS=2"},
      {"set `OMP_WAIT_POLICY` to `passive` there", "OMP_WAIT_POLICY=passive"},
      {"use OMP_WAIT_POLICY to avoid spinning", ""},
      {"OMP_NUM_THREADS == 1, OMP_NUM_THREADS=1-4 or OMP_NUM_THREADS=nproc", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    std::vector<std::string> found;
    for (const Setting& setting : settings_in(c.text)) {
      found.push_back(setting.variable + "=" + setting.value);
    }
    EXPECT_EQ(join(found, " "), c.want);
  }
}

}  // namespace
}  // namespace amdahl::dream
