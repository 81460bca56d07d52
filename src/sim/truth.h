// truth.h: the true nature of a simulated hypothesis: a real win, nothing, or one of the ways in
// which a change can look like a win without being one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/random.h"

namespace amdahl::sim {

enum class Kind : std::uint8_t {
  kWin,
  kSmall,
  kNull,
  kSlow,
  kOutlier,
  kHetero,
  kSkip,
  kQuality,
  kCost,
  kOrder,
  kWarm,
  kHost,
  kInput,
  kSimpson,
  kTimeOfDay,
  kFail,
  kAmdahl,
  kHarness,
};
inline constexpr int kKinds = 18;

// Figures of the method's reference simulation (docs/design/0002-verification.md), in which each
// stage was a separate function: shares that reached E of 20, the campaign's level at ten
// promotions, and promotion; pairs of each stage.
struct Expected {
  double evidence = 0;
  double level = 0;
  double promoted = 0;
  double compare = 0;
  double replicate = 0;
  double top_up = 0;
  std::string_view refuter{};
};

struct KindRow {
  Kind kind;
  std::string_view name;
  std::string_view says;
  double apparent;    // Mean ln by which pairs favour the variant; varies for wins.
  double production;  // ln(cost before / cost after) in production; likewise.
  Expected expected;
};

std::span<const KindRow> kinds();
const KindRow& row_of(Kind kind);

bool is_real(Kind kind);         // A win, even a small one.
bool is_statistical(Kind kind);  // Only noise can make it look like a win.

// Costs more in production, or produces less.
bool is_harmful(Kind kind);

struct Truth {
  Kind kind = Kind::kNull;
  double noise = 0.05;  // Deviation of a pair.
  double effect = 0;    // ln, of real wins.
  double claim = 0;     // ln.
  double touched = 0;   // Share of the cost that the profile says it can affect.
  // What the job reports.
  bool inputs_known = true;
  bool strata_known = true;
  double neighbours_seen = 1;  // Probability that a receipt records other activity on the host.
  bool pinned = true;          // Both arms read the same input.
  bool bitwise = true;         // Outputs are bit-identical.
  // Its value.
  double hours = 0;       // Accelerator-hours within the pay-back horizon.
  double pair_hours = 0;  // Per pair.
  double idle = 0;        // Share of its hours in which accelerators wait.
  int past_runs = 0;      // Earlier runs of the job.
};

// ln(cost before / cost after) in production.
double production_effect(const Truth& truth);
// Accelerator-hours saved within the horizon; negative for harm.
double hours_back(const Truth& truth);

// Frequency of each kind.
using Mix = std::array<double, kKinds>;
Mix mixed_campaign();             // Half nulls, 18 % wins, 16 % over 13 adversaries.
Mix wins_and_nulls(double wins);  // And nothing else.
Kind draw_kind(const Mix& mix, Stream& stream);

// Properties of a fleet; each may be fitted to a ledger.
struct Population {
  std::vector<double> noises{0.01, 0.02, 0.05, 0.10};    // Deviations of pairs,
  std::vector<double> noise_shares{0.2, 0.3, 0.3, 0.2};  // and their frequencies.
  double typical_effect = 0.08;                          // Share saved by the median win,
  double effect_spread = 0.8;                            // and the deviation of its logarithm.
  // Probability that a spec names its inputs (needed by a mandatory check),
  double must_tell = 0.98;
  double may_tell = 0.90;  // and classes of inputs (needed by another).
  // The supervisor records the host of every run, and nearly always other activity. Every job can
  // run against itself.
  double neighbours_seen = 0.98;
  double pair_hours = 0.5;  // Median.
  int past_runs = 200;      // Earlier runs of a job.
};

Truth draw_truth(Kind kind, const Population& population, Stream& stream);

}  // namespace amdahl::sim
