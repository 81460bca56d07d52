// campaign.h: which hypotheses of a campaign may be promoted, and which one gets the next pair.
#pragma once

#include <span>

namespace amdahl::stats {

// A campaign's error budget: in expectation at most the share `alpha` of its promotions is false,
// under any dependence between hypotheses and any further filter. Holds if at most `hypotheses`
// are registered and `promoted` never decreases.
struct Campaign {
  int hypotheses = 200;
  double alpha = 0.10;
  int promoted = 0;  // So far: passed every check and the gate.
};

// ln E that the next promotion of the campaign needs.
double promotion_log_threshold(const Campaign& campaign);
// The same for a hypothesis with weight w instead of 1/K: ln(1 / (w alpha (D+1))). All weights
// must be fixed before the first pairs and sum to at most 1; see weight_left().
double promotion_log_threshold(const Campaign& campaign, double weight);

// The weight left for further hypotheses; at least 0.
double weight_left(std::span<const double> registered);

// The share of alpha for test t = 1, 2, … of an endless stream; sums to 1. As weights these make a
// campaign endless; the required level rises with t.
double gamma_log(int t);

// State of a live hypothesis when a slot becomes free.
struct Prospect {
  double log_e = 0;
  int pairs = 0;
  double effect = 0;  // Hodges-Lehmann estimate so far, in ln.
  double claim = 0;   // In ln.
  double sigma = 0.05;
  double volume = 0;         // Accelerator-hours of the job within the pay-back horizon.
  double cost_per_pair = 1;  // Accelerator-hours.
  double log_threshold = 3;  // ln E needed.
  double prior = 0.15;       // Historical share of hypotheses that win.
  double tau = 0.06;         // Standard deviation of true effects.
};

// Expected number of further pairs until a win; at least 1.
double pairs_to_win(double log_e, int pairs, double log_threshold);

// P(the effect is real) × hours saved / hours still needed to prove it. The next pair goes to the
// largest index. Below 1 the experiment does not pay.
double budget_index(const Prospect& prospect);

}  // namespace amdahl::stats
