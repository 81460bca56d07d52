// account.h: what a person needs to know of a comparison, in words and numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "compare/compare.h"
#include "model/hypothesis.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::compare {

// How people speak of what is compared.
struct Speech {
  std::string metric = "wall time";
  std::string unit = "s";  // "s" is shown as a duration.
  std::string better = "is faster";
  std::string worse = "is slower";
  bool lower_is_better = true;
};

// What was done: all that an account is made from.
struct Tried {
  std::string a;  // The commands, as people read them.
  std::string b;
  Speech speech;
  model::Spec spec;          // Whose metric and direction count.
  Design design;             // As frozen before the first pair.
  double claim = 0;          // ln of the saving that B was said to bring; 0 if nothing was said.
  bool noise_given = false;  // By a person; else measured or assumed.
  std::vector<model::PairFact> same;   // A against A, labelled by the coin.
  std::vector<model::PairFact> pairs;  // In order of index, those in `same` likewise.
  // Outputs that a spec names must be the same. What a command prints may hold a time of day: it
  // counts as different only if each arm prints the same every time.
  bool outputs_named = false;
  bool interrupted = false;
  std::string resume;  // What to type to go on; empty if there is nothing to go on with.
  int cpus = 1;        // Of this host.
};

// One pair, and what all up to it say together.
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

// Both arms of A against A are the same, so whatever they show is noise or the harness's doing.
struct Noise {
  double sigma = 0.05;     // Of one pair.
  std::string from;        // "6 A/A pairs".
  int same = 0;            // A/A pairs that count.
  double bias = 0;         // Their typical effect.
  double bias_chance = 1;  // Of seeing so much without a bias: exact, two-sided.
};

struct OrderEffect {
  double effect = 0;  // ln: above 0, whoever runs second is better off.
  double chance = 1;
  int pairs = 0;
};

struct Account {
  Tried tried;
  model::Comparison comparison;
  std::string verdict;  // One sentence.
  Noise noise;
  OrderEffect order;
  std::optional<double> visible;         // The smallest effect these pairs typically show, in ln.
  std::optional<double> visible_at_cap;  // The same for as many as there may be.
  std::optional<int> pairs_to_settle;    // Further ones; 0 if it is settled.
  std::optional<double> median_a;
  std::optional<double> median_b;
  bool outputs_differ = false;
  std::vector<Line> lines;           // The facts in order, for people.
  std::vector<std::string> remarks;  // What is odd, each with what to do about it.
  std::vector<std::string> settle;   // What would settle it; empty if it is settled.
  std::vector<Row> rows;
};

Account account_of(const Tried& tried);

// The numbers in it, without the rows' whole facts. What is unknown or unbounded is null.
Json encode(const Account& account);

// "1.235 s", "12.3 MB", "512 tokens/s".
std::string show_value(double value, const Speech& speech);
// An effect as people see this metric: the share saved, or gained where higher is better; below 0
// it is costed or lost.
double share_of(double effect, const Speech& speech);
// The same backwards: the effect at which the share is this. The share is below 1 if lower is
// better, above -1 if higher is.
double effect_of(double share, const Speech& speech);

}  // namespace amdahl::compare
