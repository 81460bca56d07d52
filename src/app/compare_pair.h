// compare_pair.h: the paired A/B test of two commands or specs. Needs no ledger.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/config.h"
#include "base/result.h"
#include "compare/account.h"
#include "model/hypothesis.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::app {

// The question; stored in the comparison's folder, so that it can be resumed.
struct CompareQuestion {
  model::Spec a;
  model::Spec b;
  bool typed = true;  // Two commands, not two specs.
  int pairs = 40;     // Maximum.
  double claim = 0;   // Share that B is claimed to save; half of it is the smallest that matters.
  std::optional<double> noise;  // Of one pair, in ln, if given.
  std::optional<int> same;      // A/A pairs before the first pair; nothing: six if that is quick.
  int warm_up = 1;              // Uncounted runs of each arm at the start.
  double confidence = 0.95;     // For "better" and "worse", and for each bound.
  double precision = 0;  // Continue until the interval is ± this share; 0: until the verdict.
  // "" or "wall", "cpu", "memory", the name of a number that the job reports, or a regular
  // expression with one group on its output.
  std::string metric;
  bool higher_is_better = false;
  std::string work;         // Regular expression for the units of work; "": as reported.
  bool concurrent = false;  // Both arms at once, on separate CPUs swapped by the coin.
  std::string seed;         // Of the coin.
};

// For progress output.
struct CompareProgress {
  std::string stage;         // "warm-up", "A against A", "pair".
  int number = 0;            // Of the current run or pair, 1-based.
  int most = 0;              // Maximum of this stage.
  std::string arm;           // "A", "B" or "both".
  double elapsed_s = 0;      // Of the current arm.
  double expected_s = 0;     // 0: unknown.
  model::Comparison so_far;  // Without bounds.
  compare::MetricText metric_text;
  double log_e_needed = 0;  // For better or worse.
  std::optional<int> pairs_left;
  double seconds_left = 0;  // 0: unknown.
};

struct CompareWatch {
  std::function<void(const CompareProgress&)> progress;
  std::function<void(const std::string&)> say;  // Decisions that a person should know of.
  std::function<bool()> stopped;
};

struct CompareOutcome {
  compare::Account account;
  std::string folder;  // Receipts and outputs; for `amdahl compare --resume`.
  Nanos started{};     // Unix time.
};

// Two commands, or paths of two spec files, as typed around ":::".
Result<CompareQuestion> parse_compare(const std::vector<std::string>& words);

// Runs until there is an answer, the pairs are used up or `stopped`. kExternal if an arm cannot
// run or gives no number: names the arm, how it ended and its last output.
Result<CompareOutcome> compare_pairs(const Config& config, const CompareQuestion& question,
                                     const CompareWatch& watch);

struct CompareAgain {
  std::string folder;  // Path, name, or "last".
  // Only needed if the commands contained secrets, which are not stored.
  std::vector<std::string> words;
  std::optional<int> pairs;  // Another limit; everything else is unchanged.
  std::optional<double> precision;
};

// Resumes an earlier comparison; a decided one is only reported again.
Result<CompareOutcome> compare_again(const Config& config, const CompareAgain& again,
                                     const CompareWatch& watch);

}  // namespace amdahl::app
