// drive.h: runs a campaign of simulated hypotheses through the production loop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loop/experiments.h"
#include "sim/job.h"
#include "sim/noise.h"
#include "sim/truth.h"

namespace amdahl::sim {

// Who gets the next free slot.
enum class Grant : std::uint8_t {
  kWorth,       // As the loop decides: chance × hours saved ÷ hours still needed.
  kFifo,        // Oldest first, each to its decision.
  kRandom,      // Random order, each to its decision.
  kWaste,       // Most waiting accelerator time first.
  kRoundRobin,  // Fewest pairs first.
};
struct GrantRow {
  Grant grant;
  bool drops;  // Drop what does not pay.
  std::string_view name;
  std::string_view says;
};
std::span<const GrantRow> grants();

struct Setup {
  loop::Settings settings;
  stats::Campaign campaign;
  loop::Circumstances prices;
  Population population;
  Mix mix{};
  int hypotheses = 200;
  int per_job = 1;         // Hypotheses per job.
  int live = 50;           // Hypotheses under test at once.
  int slots = 16;          // Pairs at once.
  int same_at_start = 12;  // Initial A/A pairs per job.
  Grant grant = Grant::kWorth;
  bool drops = false;                  // What does not pay is dropped.
  bool canary = false;                 // Promoted changes are watched in production,
  bool reopens = false;                // and a person reopens what was rolled back, once.
  const Scenario* scenario = nullptr;  // Null: "base".
  std::optional<Noise> noise{};        // Fitted; scaled to a pair deviation of 1.
};

// How one hypothesis ended.
struct Outcome {
  Truth truth;
  bool evidence = false;  // E reached 20.
  bool level = false;     // E reached the campaign's level when the panel was asked.
  bool promoted = false;
  bool held = false;
  bool parked = false;
  std::optional<model::VerdictKind> verdict{};  // Nothing while on hold or parked.
  int compare = 0;                              // Valid pairs.
  int replicate = 0;
  int top_up = 0;
  int voided = 0;
  double compare_runs = 0;  // In the compare stage; a shared baseline counts by its share.
  double spent_h = 0;
  double promoted_at_h = 0;      // Total hours spent by then.
  bool rolled_back = false;      // Proposed by its canary.
  bool reopened = false;         // A person reopened it once.
  std::uint32_t refuted_by = 0;  // Bits by index in refute::checks(): of the last vote,
  std::uint32_t decisively = 0;  // and of any vote.
  std::uint32_t unanswered = 0;  // Mandatory ones that abstained in the last vote.
  std::uint32_t bought_for = 0;  // Checks that got targeted pairs.
  double estimate = 0;           // Of promotions, in ln.
  double shrunk = 0;
  double lower = 0;

  bool kept() const { return promoted && !rolled_back; }
  int pairs() const { return compare + replicate + top_up; }
};

struct Campaign {
  std::vector<Outcome> outcomes;  // By number.
  double spent_h = 0;
  double same_h = 0;  // On A/A pairs.
  double clock_h = 0;
  int plans = 0;
};

// The jobs of a campaign with that seed.
std::vector<Job> make_jobs(const Setup& setup, std::uint64_t seed);
std::vector<Job> make_jobs(const Setup& setup, std::uint64_t seed, const std::vector<Kind>& kinds);

// Deterministic for a seed. Fails only on a bug.
Campaign run_campaign(const Setup& setup, std::uint64_t seed);
// The same with given kinds.
Campaign run_campaign(const Setup& setup, std::uint64_t seed, const std::vector<Kind>& kinds);

}  // namespace amdahl::sim
