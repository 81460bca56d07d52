#include "sim/truth.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace amdahl::sim {
namespace {

constexpr auto kRows = std::to_array<KindRow>({
    {Kind::kWin, "win", "saves 2 to 60 %", 0, 0, {.890, .823, .731, 10.2, 6.0, 2.7, "-"}},
    {Kind::kSmall, "small", "saves 0.3 to 1.5 %", 0, 0, {.227, .098, .050, 20.5, 2.7, .8, "-"}},
    {Kind::kNull, "null", "does nothing", 0, 0, {.019, .001, .001, 9.4, .2, 0, "-"}},
    {Kind::kSlow, "slow", "5 % slower", -.05, -.05, {.001, 0, 0, 4.5, 0, 0, "-"}},
    {Kind::kOutlier,
     "outlier",
     "nothing, 15 % outliers",
     0,
     0,
     {.024, .001, .001, 13.2, .3, 0, "-"}},
    {Kind::kHetero,
     "hetero",
     "+6 % on 90 % of inputs, -55 % on the rest",
     .06,
     -.021,
     {.748, .595, .254, 15.0, 6.7, 5.0, "strata"}},
    {Kind::kSkip, "skip", "skips 26 % of the work", .30, 0, {.988, .988, 0, 5.7, 5.2, 0, "work"}},
    {Kind::kQuality,
     "quality",
     "results 2 % worse",
     .15,
     0,
     {.984, .978, 0, 6.5, 5.6, 0, "quality"}},
    {Kind::kCost,
     "cost",
     "accelerators -20 %, whole bill +8 %",
     .20,
     -.08,
     {.979, .978, 0, 6.0, 5.3, .1, "cost"}},
    {Kind::kOrder,
     "order",
     "ignores the coin, warm second run",
     .08,
     0,
     {.952, .887, 0, 9.1, 6.7, 0, "design"}},
    {Kind::kWarm,
     "warm",
     "fast only when it runs second",
     .075,
     0,
     {.765, .516, .075, 17.2, 7.8, 3.5, "order"}},
    {Kind::kHost,
     "host",
     "lands on faster hosts",
     .07,
     0,
     {.886, .732, .041, 13.1, 7.6, 7.0, "host"}},
    {Kind::kInput,
     "input",
     "gets 8 % smaller inputs",
     .08,
     0,
     {.941, .864, .022, 10.0, 6.7, 4.6, "input"}},
    {Kind::kSimpson,
     "simpson",
     "+12 % small, -10 % large inputs (70 % of the fleet)",
     .054,
     -.034,
     {.401, .143, .017, 27.6, 5.1, .8, "strata"}},
    {Kind::kTimeOfDay,
     "time of day",
     "+10 % at night, -8 % by day",
     .055,
     .01,
     {.585, .279, .040, 23.3, 6.8, 1.6, "tod"}},
    {Kind::kFail,
     "fail",
     "10 % faster, fails 20 % instead of 4 %",
     .10,
     -.082,
     {.973, .934, .265, 8.0, 6.3, 4.1, "failures"}},
    {Kind::kAmdahl,
     "amdahl",
     "timer bug: 30 % from a part of 8 %",
     .30,
     0,
     {.983, .982, .009, 5.7, 5.1, 0, "amdahl"}},
    {Kind::kHarness,
     "harness",
     "the harness favours B by 5 %",
     .05,
     0,
     {.832, .708, .071, 13.1, 6.8, 4.3, "aa"}},
});
static_assert(kRows.size() == kKinds);

constexpr double kDull = 0.002;  // Below that a claim comes from elsewhere than the effect.

double least_to_most(double value, double least, double most) {
  return std::clamp(value, least, most);
}

}  // namespace

std::span<const KindRow> kinds() { return kRows; }

const KindRow& row_of(Kind kind) {
  const KindRow& row = kRows[static_cast<std::size_t>(kind)];
  CHECK(row.kind == kind);
  return row;
}

bool is_real(Kind kind) { return kind == Kind::kWin || kind == Kind::kSmall; }

bool is_statistical(Kind kind) {
  return kind == Kind::kNull || kind == Kind::kSlow || kind == Kind::kOutlier;
}

bool is_harmful(Kind kind) {
  const bool gives_less = kind == Kind::kSkip || kind == Kind::kQuality;
  return gives_less || row_of(kind).production < 0;
}

double production_effect(const Truth& truth) {
  return is_real(truth.kind) ? truth.effect : row_of(truth.kind).production;
}

double hours_back(const Truth& truth) {
  return truth.hours * -std::expm1(-production_effect(truth));
}

Mix mixed_campaign() {
  Mix mix{};
  const auto share = [&](Kind kind) -> double& { return mix[static_cast<std::size_t>(kind)]; };
  mix.fill(0.16 / 13);
  share(Kind::kNull) = 0.50;
  share(Kind::kSlow) = 0.08;
  share(Kind::kOutlier) = 0.04;
  share(Kind::kWin) = 0.18;
  share(Kind::kSmall) = 0.04;
  return mix;
}

Mix wins_and_nulls(double wins) {
  Mix mix{};
  mix[static_cast<std::size_t>(Kind::kWin)] = wins;
  mix[static_cast<std::size_t>(Kind::kNull)] = 1 - wins;
  return mix;
}

Kind draw_kind(const Mix& mix, Stream& stream) {
  double left = stream.uniform();
  for (const KindRow& row : kRows) {
    left -= mix[static_cast<std::size_t>(row.kind)];
    if (left < 0) return row.kind;
  }
  return Kind::kNull;
}

Truth draw_truth(Kind kind, const Population& p, Stream& stream) {
  Truth truth;
  truth.kind = kind;
  double left = stream.uniform();
  for (std::size_t i = 0; i < p.noises.size(); ++i) {
    truth.noise = p.noises[i];
    left -= p.noise_shares[i];
    if (left < 0) break;
  }
  const double share = least_to_most(
      std::exp(stream.normal(std::log(p.typical_effect), p.effect_spread)), 0.02, 0.6);
  const double saved = -std::log1p(-share);
  const double small = stream.uniform(0.003, 0.015);
  if (kind == Kind::kWin) truth.effect = saved;
  if (kind == Kind::kSmall) truth.effect = small;
  // People claim what the mechanism suggests, give or take; of what does nothing, anything.
  const double apparent = is_real(kind) ? truth.effect : row_of(kind).apparent;
  const double guess = std::exp(stream.normal(0, 0.4));
  truth.claim = apparent > kDull ? apparent * guess : saved;
  const double room = stream.uniform(1.2, 4);
  const double least = std::max({truth.claim, truth.effect, 0.01});
  truth.touched = kind == Kind::kAmdahl ? 0.08 : std::min(0.95, -std::expm1(-least) * room);
  truth.inputs_known = stream.chance(p.must_tell);
  truth.neighbours_seen = p.neighbours_seen;
  truth.strata_known = stream.chance(p.may_tell);
  truth.pinned = stream.chance(0.8) && kind != Kind::kInput;
  truth.bitwise = stream.chance(0.5);
  truth.hours = std::min(stream.pareto(300, 0.9), 300000.0);
  truth.pair_hours = std::exp(stream.normal(std::log(p.pair_hours), 0.8));
  truth.idle = stream.uniform(0.1, 0.9);
  truth.past_runs = p.past_runs;
  return truth;
}

}  // namespace amdahl::sim
