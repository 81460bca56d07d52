// campaign.h: which of many hypotheses may be promoted, and which gets the next pair.
#pragma once

#include <span>

namespace amdahl::stats {

// A campaign's error budget: of what it promotes, at most the share `alpha` is false in
// expectation, however the hypotheses depend on each other and whatever else filters them.
// Holds if at most `hypotheses` are registered and a promotion is never un-counted.
struct Campaign {
  int hypotheses = 200;
  double alpha = 0.10;
  int promoted = 0;  // So far: survived every check and the person.
};

// ln E that a hypothesis needs to be promoted alone, the next one of the campaign.
double promotion_log_threshold(const Campaign& campaign);
// The same for one that was given another share of alpha than 1/K: 1/(w alpha(D+1)). The weights of
// all hypotheses must be fixed before their first pairs and sum to at most 1: see weight_left().
double promotion_log_threshold(const Campaign& campaign, double weight);

// What further hypotheses may be given, where these weights were; never below 0.
double weight_left(std::span<const double> registered);

// The share of alpha for test t = 1, 2, … of a stream without an end; sums to 1. As a weight it
// makes a campaign endless, at the price of a level that rises with t.
double gamma_log(int t);

// What is known of a live hypothesis when a slot frees.
struct Prospect {
  double log_e = 0;
  int pairs = 0;
  double effect = 0;  // Hodges-Lehmann so far, in ln.
  double claim = 0;   // In ln.
  double sigma = 0.05;
  double volume = 0;         // Accelerator-hours the job will burn over the pay-back horizon.
  double cost_per_pair = 1;  // Accelerator-hours.
  double log_threshold = 3;  // ln E that it needs.
  double prior = 0.15;       // Historical share of hypotheses that win.
  double tau = 0.06;         // Spread of true effects.
};

// Pairs a win will probably still take; at least 1.
double pairs_to_win(double log_e, int pairs, double log_threshold);

// Chance that it is real × hours it would give back / hours still needed to prove it. The next
// pair goes to the largest; below 1 it does not pay.
double budget_index(const Prospect& prospect);

}  // namespace amdahl::stats
