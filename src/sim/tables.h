// tables.h: the simulator's tables, one per question.
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
  int size = 0;                // Hypotheses (or repetitions); 0: the table's default.
  Setup setup;                 // The table sets its mix and what it varies.
  bool fitted = false;         // The setup was fitted to a ledger: the reference does not apply.
  std::string_view only = "";  // One row, such as a policy; empty: all.
  Watch watch;
};

struct TableRow {
  std::string_view name;
  std::string_view says;
  Table (*make)(const Options&);
};
std::span<const TableRow> tables();
const TableRow* find_table(std::string_view name);

// "reference" is the figure of the method's own simulation, in which every stage was a separate
// function and nothing ran concurrently.
Table errors_table(const Options& options);     // False wins under peeking, noise by noise.
Table power_table(const Options& options);      // Wins and pairs by noise and effect.
Table methods_table(const Options& options);    // Pairs compared with other tests.
Table classes_table(const Options& options);    // How far each kind gets.
Table campaign_table(const Options& options);   // The mixed campaign.
Table fdr_table(const Options& options);        // Sparse campaigns.
Table budget_table(const Options& options);     // Hours recovered by budget and policy.
Table decisions_table(const Options& options);  // Ours against common practice.
Table blocks_table(const Options& options);     // Runs saved by a shared baseline.

// A seed for each unit of a table.
std::uint64_t unit_seed(const Options& options, std::uint64_t table, int unit);

}  // namespace amdahl::sim
