// compare_pair.h: the paired A/B test alone, for anyone with two commands. Needs no ledger.
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

// What is asked; kept in the comparison's folder, so that it can go on.
struct CompareQuestion {
  model::Spec a;
  model::Spec b;
  bool typed = true;  // Two commands, not two specs.
  int pairs = 40;     // At most.
  double claim = 0;   // Share that B is said to save; half of it is the least that matters.
  std::optional<double> noise;  // Of one pair, in ln, if a person knows it.
  std::optional<int> same;      // A/A pairs before the first pair; nothing: six if soon done.
  int warm_up = 1;              // Runs of each arm before all that; not counted.
  double confidence = 0.95;     // Of "better" and "worse", and of each bound.
  double precision = 0;         // Go on until the interval is ± this share; 0: until the verdict.
  // "" or "wall", "cpu", "memory", the name of a number that the job reports, or a regular
  // expression with one group on what it prints.
  std::string metric;
  bool higher_is_better = false;
  std::string work;         // A regular expression for the units of work done; "": as reported.
  bool concurrent = false;  // Both arms at once, on separate CPUs swapped by the coin.
  std::string seed;         // Of the coin.
};

// Where it stands, for a person who waits.
struct CompareProgress {
  std::string stage;         // "warm-up", "A against A", "pair".
  int number = 0;            // Of the run or pair under way, from 1.
  int most = 0;              // How many of this stage there may be.
  std::string arm;           // "A", "B" or "both".
  double elapsed_s = 0;      // Of the arm under way.
  double expected_s = 0;     // 0: not known yet.
  model::Comparison so_far;  // Without bounds.
  compare::MetricText metric_text;
  double log_e_needed = 0;  // For better or worse.
  std::optional<int> pairs_left;
  double seconds_left = 0;  // 0: not known.
};

struct CompareWatch {
  std::function<void(const CompareProgress&)> progress;
  std::function<void(const std::string&)> say;  // A decision that a person should know of.
  std::function<bool()> stopped;
};

struct CompareOutcome {
  compare::Account account;
  std::string folder;  // Receipts and outputs; `amdahl compare --resume` goes on from it.
  Nanos started{};     // Unix time.
};

// Two commands, or paths of two spec files, as typed around ":::".
Result<CompareQuestion> parse_compare(const std::vector<std::string>& words);

// Runs until there is an answer, the pairs are used up or `stopped`. kExternal if an arm cannot
// run at all or gives no number, saying which, how it ended and its last words.
Result<CompareOutcome> compare_pairs(const Config& config, const CompareQuestion& question,
                                     const CompareWatch& watch);

struct CompareAgain {
  std::string folder;              // Its path, its name, or "last".
  std::vector<std::string> words;  // Only needed if the commands held secrets, which are not kept.
  std::optional<int> pairs;        // Another limit; all else stays as it was asked.
  std::optional<double> precision;
};

// Goes on with an earlier comparison; one that has its answer is only told again.
Result<CompareOutcome> compare_again(const Config& config, const CompareAgain& again,
                                     const CompareWatch& watch);

}  // namespace amdahl::app
