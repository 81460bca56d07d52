// job.h: a simulated job: what it tells of itself, and what a pair of its runs leaves behind.
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

// What pairs need to know of the prices, so that a bill can be made to come out.
struct Prices {
  double accelerator_hour = 1;
  double cpu_hour = 0.02;
};

// One job and the hypotheses about it. Pairs are drawn as they are asked for, in that order.
class Job {
 public:
  // `number` names the job and its stream; its hypotheses have the numbers from `first` on.
  Job(std::uint64_t seed, int number, int first, std::vector<Truth> truths, const Noise& noise,
      const Prices& prices);

  const model::Spec& spec() const { return spec_; }
  const std::vector<Truth>& truths() const { return truths_; }
  int first() const { return first_; }
  model::Hypothesis hypothesis(int number) const;

  // Of the runs it had before anyone looked, drawn anew at each call.
  int past_failures();
  // A pair of the job against itself.
  model::PairFact same(int index);
  // What the order's pair comes to, and then those that share its baseline.
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
  // What the world adds to a pair besides the noise of its two slots.
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
  double run_s_;  // Accelerator-seconds of a run on a quiet day.
};

// The number of the hypothesis that an experiment or hypothesis id names.
int number_in(const std::string& id);
std::string hypothesis_id(int number);

}  // namespace amdahl::sim
