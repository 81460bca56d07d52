// tables.h: the questions that the simulator answers, one table each.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/drive.h"
#include "sim/figure.h"
#include "sim/work.h"

namespace amdahl::sim {

struct Options {
  std::uint64_t seed = 1;
  int size = 0;  // Hypotheses (or repetitions) in all; 0: as many as the table takes by itself.
  Setup setup;   // Its mix and what a table varies are the table's to set.
  bool fitted = false;         // The setup comes from a ledger: the reference does not apply.
  std::string_view only = "";  // A row of the table, such as a policy; empty: all.
  Watch watch;
};

struct TableRow {
  std::string_view name;
  std::string_view says;
  Table (*make)(const Options&);
};
std::span<const TableRow> tables();
const TableRow* find_table(std::string_view name);

// In each, "reference" is the figure of the method's own simulation, in which every stage was a
// function of its own and nothing ran at the same time.
Table errors_table(const Options& options);     // False wins under peeking, noise by noise.
Table power_table(const Options& options);      // Wins and pairs by noise and effect.
Table methods_table(const Options& options);    // Pairs against those of other tests.
Table classes_table(const Options& options);    // Kind by kind: how far it gets.
Table campaign_table(const Options& options);   // The mixed campaign.
Table fdr_table(const Options& options);        // Sparse campaigns.
Table budget_table(const Options& options);     // Hours captured by budget, policy by policy.
Table decisions_table(const Options& options);  // Ours against what people do.
Table blocks_table(const Options& options);     // Runs saved by a shared baseline.

// A seed for each unit of a table.
std::uint64_t unit_seed(const Options& options, std::uint64_t table, int unit);

}  // namespace amdahl::sim
