// job.h: a simulated job: its spec, and the facts of its pairs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/hypothesis.h"
#include "model/pair.h"
#include "model/receipt.h"
#include "model/spec.h"
#include "sim/noise.h"
#include "sim/random.h"
#include "sim/truth.h"

namespace amdahl::sim {

// Prices, so that bills can be simulated.
struct Prices {
  double accelerator_hour = 1;
  double cpu_hour = 0.02;
};

// One job and its hypotheses. Pairs are drawn on request, in that order.
class Job {
 public:
  // `number` identifies the job and its random stream; its hypotheses are numbered from `first`.
  Job(std::uint64_t seed, int number, int first, std::vector<Truth> truths, const Noise& noise,
      const Prices& prices);

  const model::Spec& spec() const { return spec_; }
  const std::vector<Truth>& truths() const { return truths_; }
  int first() const { return first_; }
  model::Hypothesis hypothesis(int number) const;

  // Failures among its earlier runs; drawn anew at each call.
  int past_failures();
  // A pair of the job against itself.
  model::PairFact same(int index);
  // The fact of the ordered pair, then of those that share its baseline.
  std::vector<model::PairFact> run(const model::Pair& order);

 private:
  struct Setting {
    model::Purpose purpose = model::Purpose::kCompare;
    std::string target;
    int index = 0;
    bool assigned_second = false;
    bool contended = false;
    std::string stratum;
  };
  // What the simulated world adds to a pair besides the noise of its two slots.
  struct Twist {
    double favours_b = 0;  // ln.
    bool same_host = true;
    bool undisturbed = true;
    double smaller_input = 0;  // ln(size A / size B).
    bool small_class = false;
    bool night = false;
  };

  const Truth& truth_of(const std::string& experiment) const;
  static Setting setting_of(const model::Pair& order);
  bool runs_second(const Truth& truth, const Setting& setting) const;
  Twist twist(const Truth& truth, const Setting& setting, bool second);
  model::PairFact fact(const Truth& truth, const Setting& setting, double slow_a, double slow_b,
                       bool second);
  void finish(const Truth& truth, const Setting& setting, const Twist& twist,
              model::PairFact& pair);
  void fail(const Truth& truth, bool same, model::PairFact& pair);
  model::PairFact one(const Truth& truth, const Setting& setting);
  std::vector<model::PairFact> block(const model::Pair& order);

  int first_;
  std::vector<Truth> truths_;
  Noise noise_;
  Prices prices_;
  Stream stream_;
  Slots slots_;
  model::Spec spec_;
  double run_s_;  // Accelerator-seconds of an undisturbed run.
};

// The number in an experiment or hypothesis id.
int number_in(const std::string& id);
std::string hypothesis_id(int number);

}  // namespace amdahl::sim
