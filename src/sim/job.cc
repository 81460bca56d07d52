#include "sim/job.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/check.h"
#include "base/text.h"
#include "loop/order.h"
#include "refute/check.h"

namespace amdahl::sim {
namespace {

using model::PairFact;
using model::Purpose;

constexpr std::uint64_t kJobs = 0x6a6f62;  // "job"
constexpr double kJobWork = 1000;
constexpr double kCpuBill = 0.25;  // Of a run, in units of its accelerator bill.
constexpr double kDay_s = 86400;
constexpr double kQuarter_s = kDay_s / 4;
constexpr std::string_view kScore = "score";

double small_share(const Truth& truth) { return truth.kind == Kind::kSimpson ? 0.3 : 0.5; }

model::Spec make_spec(int number, const Truth& truth) {
  model::Spec spec;
  spec.family = fmt::format("job-{:06}", number);
  spec.command = {"job"};
  spec.workdir = "/";
  spec.work_unit = "items";
  spec.quality.push_back({std::string(kScore), 0.005});
  if (truth.inputs_known) spec.inputs.emplace_back("data");
  if (truth.strata_known) {
    const double small = small_share(truth);
    spec.strata.push_back({"small", small, {{"INPUTS", "small"}}, {}});
    spec.strata.push_back({"large", 1 - small, {{"INPUTS", "large"}}, {}});
  }
  return spec;
}

}  // namespace

std::string hypothesis_id(int number) { return fmt::format("h-{:010}", number); }

int number_in(const std::string& id) {
  CHECK(id.size() > 2);
  const auto number = to_number<int>(std::string_view(id).substr(2));
  CHECK(number.has_value());
  return *number;
}

Job::Job(std::uint64_t seed, int number, int first, std::vector<Truth> truths, const Noise& noise,
         const Prices& prices)
    : first_{first},
      truths_{std::move(truths)},
      noise_{noise},
      prices_{prices},
      stream_{seed, kJobs, static_cast<std::uint64_t>(number)},
      slots_{noise, stream_},
      spec_{make_spec(number, truths_.front())},
      run_s_{truths_.front().pair_hours * 3600 / 2} {}

const Truth& Job::truth_of(const std::string& experiment) const {
  return truths_.at(static_cast<std::size_t>(number_in(experiment) - first_));
}

model::Hypothesis Job::hypothesis(int number) const {
  const Truth& truth = truths_.at(static_cast<std::size_t>(number - first_));
  model::Hypothesis h;
  h.id = hypothesis_id(number);
  h.family = spec_.family;
  h.change.env["CHANGE"] = fmt::format("{}", number);
  h.key = h.id;
  h.title = "idea";
  h.predicted_gain = -std::expm1(-truth.claim);
  h.ceiling_share = truth.touched;
  return h;
}

bool Job::runs_second(const Truth& truth, const Setting& setting) const {
  if (setting.target == "order") return setting.assigned_second;
  return setting.assigned_second || truth.kind == Kind::kOrder;
}

// The kinds of docs/guide/sim.md, each as the mechanism would do it.
Job::Twist Job::twist(const Truth& truth, const Setting& setting, bool second) {
  const Kind kind = truth.kind;
  Twist t;
  t.favours_b = truth.effect;
  constexpr Kind kConstant[] = {Kind::kSlow, Kind::kSkip,   Kind::kQuality, Kind::kCost,
                                Kind::kFail, Kind::kAmdahl, Kind::kHarness};
  if (std::ranges::find(kConstant, kind) != std::end(kConstant)) {
    t.favours_b += row_of(kind).apparent;
  }
  if (kind == Kind::kOrder && second) t.favours_b += 0.08;
  if (kind == Kind::kWarm && second) t.favours_b += 0.15;
  if (kind == Kind::kHetero) t.favours_b += stream_.chance(0.9) ? 0.06 : -0.55;
  t.same_host = stream_.chance(kind == Kind::kHost ? 0.3 : 0.85) || setting.target == "host";
  const double elsewhere = stream_.normal(0, 0.05);
  if (!t.same_host) t.favours_b += kind == Kind::kHost ? 0.10 : elsewhere;
  t.undisturbed = stream_.chance(0.9);
  const double smaller = stream_.normal(kind == Kind::kInput ? 0.08 : 0.0, 0.03);
  if (!truth.pinned && setting.target != "input") t.smaller_input = smaller;
  t.favours_b += t.smaller_input;
  // Where nobody deals inputs by their share, small ones are the easier to get.
  const bool small_came = stream_.chance(kind == Kind::kSimpson ? 0.7 : 0.5);
  t.small_class = setting.stratum.empty() ? small_came : setting.stratum == "small";
  if (kind == Kind::kSimpson) t.favours_b += t.small_class ? 0.12 : -0.10;
  t.night = stream_.chance(kind == Kind::kTimeOfDay ? 0.75 : 0.5) && setting.target != "tod";
  if (kind == Kind::kTimeOfDay) t.favours_b += t.night ? 0.10 : -0.08;
  return t;
}

PairFact Job::fact(const Truth& truth, const Setting& setting, double slow_a, double slow_b,
                   bool second) {
  const bool same = refute::target_of(setting.target).same || setting.purpose == Purpose::kSame;
  Twist t;
  if (same) {
    t.favours_b = truth.kind == Kind::kHarness ? row_of(truth.kind).apparent : 0;
    t.small_class = setting.stratum == "small";
  } else {
    t = twist(truth, setting, second);
  }
  PairFact pair;
  pair.index = setting.index;
  pair.purpose = setting.purpose;
  pair.target = setting.target;
  pair.variant_second = setting.assigned_second;
  pair.ran_variant_second = second;
  pair.contended = setting.contended;
  if (truth.strata_known) pair.stratum = t.small_class ? "small" : "large";
  const double d = slow_a - slow_b + t.favours_b;
  const bool skips = truth.kind == Kind::kSkip && !same;
  const double work_left = skips ? stream_.normal(std::log(0.74), 0.01) : 0.0;
  pair.a.work = kJobWork;
  pair.b.work = kJobWork * std::exp(work_left);
  pair.a.cost = run_s_ * std::exp(slow_a);
  pair.b.cost = pair.a.cost * std::exp(work_left - d);
  // The whole bill: mostly accelerators, so that it goes with them, but for what moves work to
  // CPUs.
  const bool moves = truth.kind == Kind::kCost && !same;
  const double bill_falls = (moves ? d - 0.28 : 0.9 * d) + stream_.normal(0, 0.01);
  const double bill_a = pair.a.cost * prices_.accelerator_hour * (1 + kCpuBill);
  const double bill_b = bill_a * std::exp(work_left - bill_falls);
  pair.a.cpu_s = kCpuBill * pair.a.cost * prices_.accelerator_hour / prices_.cpu_hour;
  pair.b.cpu_s = std::max(0.0, bill_b - pair.b.cost * prices_.accelerator_hour) / prices_.cpu_hour;
  finish(truth, setting, t, pair);
  fail(truth, same, pair);
  return pair;
}

// What receipts tell besides time and money.
void Job::finish(const Truth& truth, const Setting& setting, const Twist& t, PairFact& pair) {
  pair.a.wall_s = pair.a.cost;
  pair.b.wall_s = pair.b.cost;
  const bool loses = truth.kind == Kind::kQuality && pair.purpose != Purpose::kSame;
  const double shaky = truth.bitwise ? 0.0 : stream_.normal(0, 0.004);
  const double lost = loses ? stream_.normal(-0.02, 0.006) : shaky;
  pair.a.quality.emplace(kScore, 1.0);
  pair.b.quality.emplace(kScore, 1.0 + lost);
  pair.a.host = "n1";
  pair.b.host = t.same_host ? "n1" : "n2";
  const double around = setting.contended ? 2.0 : 0.1;
  pair.a.foreign_cpu_cores = pair.b.foreign_cpu_cores = around;
  pair.a.steal_share = pair.b.steal_share = 0;
  if (!t.undisturbed) {
    (stream_.chance(0.5) ? pair.a : pair.b).foreign_cpu_cores = around + 2;
  }
  for (model::ArmFact* arm : {&pair.a, &pair.b}) {
    if (!stream_.chance(truth.neighbours_seen)) arm->foreign_cpu_cores.reset();
  }
  if (truth.inputs_known) {
    const double bytes = 1e6;
    pair.a.input_fingerprint = "i1";
    pair.b.input_fingerprint = t.smaller_input == 0 ? "i1" : "i2";
    pair.a.input_bytes = bytes;
    pair.b.input_bytes = bytes * std::exp(-t.smaller_input);
  }
  // Days are numbered by the pair, so that hours of the day are the world's to choose.
  const int quarter = t.night ? (stream_.chance(0.5) ? 0 : 3) : (stream_.chance(0.5) ? 1 : 2);
  pair.a.started_s = pair.index * kDay_s + (quarter + stream_.uniform()) * kQuarter_s;
  pair.b.started_s = pair.a.started_s;
}

void Job::fail(const Truth& truth, bool same, PairFact& pair) {
  const double more = truth.kind == Kind::kFail && !same ? 0.20 : noise_.fail;
  pair.a.failed = stream_.chance(noise_.fail);
  pair.b.failed = stream_.chance(more);
  pair.voided = pair.a.failed || pair.b.failed;
  if (pair.a.failed) pair.a.failure = "exit 1";
  if (pair.b.failed) pair.b.failure = "exit 1";
  if (pair.voided) pair.void_reason = pair.b.failed ? "B: exit 1" : "A: exit 1";
}

PairFact Job::one(const Truth& truth, const Setting& setting) {
  const double first = slots_.next(stream_);
  const double second = slots_.next(stream_) + noise_.second;
  const bool same = refute::target_of(setting.target).same || setting.purpose == Purpose::kSame;
  const bool b_second = same ? setting.assigned_second : runs_second(truth, setting);
  return fact(truth, setting, b_second ? first : second, b_second ? second : first, b_second);
}

int Job::past_failures() {
  int failed = 0;
  for (int i = 0; i < truths_.front().past_runs; ++i) failed += stream_.chance(noise_.fail) ? 1 : 0;
  return failed;
}

PairFact Job::same(int index) {
  const Setting setting{.purpose = Purpose::kSame,
                        .target = "",
                        .index = index,
                        .assigned_second = stream_.chance(0.5),
                        .contended = false,
                        .stratum = loop::stratum_at(spec_, index)};
  return one(truths_.front(), setting);
}

std::vector<PairFact> Job::run(const model::Pair& order) {
  if (!order.shared.empty()) return block(order);
  const Truth& truth = order.experiment.empty() ? truths_.front() : truth_of(order.experiment);
  return {one(truth, setting_of(order))};
}

Job::Setting Job::setting_of(const model::Pair& order) {
  return {.purpose = order.aim.purpose,
          .target = order.aim.target,
          .index = order.index,
          .assigned_second = order.variant_second,
          .contended = order.contended,
          .stratum = order.stratum};
}

// One baseline, several variants, in the order drawn; each is compared with the same baseline run.
std::vector<PairFact> Job::block(const model::Pair& order) {
  std::vector<double> slow(order.order.size());
  for (std::size_t i = 0; i < order.order.size(); ++i) {
    slow[static_cast<std::size_t>(order.order[i])] =
        slots_.next(stream_) + (i > 0 ? noise_.second : 0.0);
  }
  std::vector<PairFact> facts;
  const auto add = [&](const model::Pair& own) {
    const Setting setting = setting_of(own);
    const Truth& truth = truth_of(own.experiment);
    facts.push_back(
        fact(truth, setting, slow[0], slow[facts.size() + 1], runs_second(truth, setting)));
    if (facts.size() == 1) return;
    // The baseline ran once: it failed for all or for none.
    PairFact& pair = facts.back();
    pair.a.failed = facts.front().a.failed;
    pair.a.failure = facts.front().a.failure;
    pair.voided = pair.a.failed || pair.b.failed;
    if (pair.voided) pair.void_reason = pair.b.failed ? "B: exit 1" : "A: exit 1";
  };
  add(order);
  for (const model::SharedVariant& variant : order.shared) add(pair_of(variant, order));
  return facts;
}

}  // namespace amdahl::sim
