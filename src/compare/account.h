// account.h: the report of a comparison: numbers, and sentences for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/compare.h"
#include "model/hypothesis.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::compare {

// How the compared metric is shown to people.
struct MetricText {
  std::string metric = "wall time";
  std::string unit = "s";  // "s" is shown as a duration.
  std::string better = "is faster";
  std::string worse = "is slower";
  bool lower_is_better = true;
};

// The input of account_of(): what was run and measured.
struct Measurements {
  std::string a;  // The commands, for display.
  std::string b;
  MetricText metric_text;
  model::Spec spec;                    // Gives the metric and its direction.
  Design design;                       // Fixed before the first pair.
  double claim = 0;                    // Claimed saving of B in ln; 0 if none.
  bool noise_given = false;            // By a person; otherwise measured or assumed.
  std::vector<model::PairFact> same;   // A against A, labelled by the coin.
  std::vector<model::PairFact> pairs;  // In order of index, those in `same` likewise.
  // Outputs named in a spec must be equal. Printed output may contain a time of day: it counts as
  // different only if each arm prints the same output in every run.
  bool outputs_named = false;
  bool interrupted = false;
  std::string resume;  // Command to resume; empty if it cannot be resumed.
  int cpus = 1;        // Of this host.
};

// One pair, and the estimate from all pairs up to it.
struct Row {
  model::PairFact fact;
  std::optional<double> a;  // In the metric's unit, per unit of work.
  std::optional<double> b;
  std::optional<double> d;  // Nothing: the pair is void.
  double effect = 0;
  double lower = 0;  // May be -inf, inf.
  double upper = 0;
};

struct Line {
  std::string name;
  std::string text;
};

// From A/A pairs: both arms are the same, so any difference is noise or bias of the harness.
struct Noise {
  double sigma = 0.05;     // Of one pair.
  std::string from;        // "6 A/A pairs".
  int same = 0;            // A/A pairs that count.
  double bias = 0;         // Their typical effect.
  double bias_chance = 1;  // p-value of the bias: exact, two-sided.
};

struct OrderEffect {
  double effect = 0;  // ln; above 0 the arm that runs second is better.
  double chance = 1;
  int pairs = 0;
};

struct Account {
  Measurements measured;
  model::Comparison comparison;
  std::string verdict;  // One sentence.
  Noise noise;
  OrderEffect order;
  std::optional<double> visible;         // The smallest effect these pairs typically show, in ln.
  std::optional<double> visible_at_cap;  // The same for the largest allowed number of pairs.
  std::optional<int> pairs_to_settle;    // Pairs still needed; 0 if it is decided.
  std::optional<double> median_a;
  std::optional<double> median_b;
  bool outputs_differ = false;
  std::vector<Line> lines;           // Facts for people, in order.
  std::vector<std::string> remarks;  // Oddities, each with what to do about it.
  std::vector<std::string> settle;   // How to get a decision; empty if there is one.
  std::vector<Row> rows;
};

Account account_of(const Measurements& measured);

// "1.235 s", "12.3 MB", "512 tokens/s".
std::string show_value(double value, const MetricText& metric_text);
// An effect as a share: saved, or gained if higher is better; negative if it costs more or loses.
double share_of(double effect, const MetricText& metric_text);
// The inverse: the effect for a share. The share must be below 1 if lower is better, above -1 if
// higher is better.
double effect_of(double share, const MetricText& metric_text);

}  // namespace amdahl::compare
