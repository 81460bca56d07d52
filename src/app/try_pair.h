// try_pair.h: the paired A/B test alone, for anyone with two commands. Needs no ledger.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/config.h"
#include "base/result.h"
#include "compare/compare.h"
#include "model/hypothesis.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::app {

struct TryOptions {
  model::Spec a;
  model::Spec b;
  int pairs = 40;    // At most.
  double claim = 0;  // Share that B is said to save; sets the smallest effect that matters.
  double sigma = 0.05;
  int warm_up = 1;  // Runs of each before the first pair; not counted.
  std::function<void(const model::PairFact&, const model::Comparison&)> progress;
  std::function<bool()> stopped;
};

struct TryOutcome {
  model::Comparison comparison;
  compare::Design design;
  std::vector<model::PairFact> pairs;
  bool outputs_differ = false;
  bool interrupted = false;
  std::string seed;
  std::string folder;  // Where receipts and outputs are.
};

// Two commands, or paths of two spec files, as typed around ":::".
Result<TryOptions> parse_try(const std::vector<std::string>& words);

// Fails if an arm cannot run at all (the first three pairs void), saying why.
Result<TryOutcome> try_pairs(const Config& config, const TryOptions& options);

}  // namespace amdahl::app
