// config.h: what a person sets once: where things are, what they cost, how far the loop may go.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace amdahl::app {

struct Config {
  std::string state_dir;  // Ledger, runs, usage records, overlays.
  std::string launcher = "local";
  std::vector<int> slots;               // CPUs that pairs may use; empty: all usable ones.
  double price_accelerator_hour = 2.0;  // USD.
  double price_cpu_hour = 0.02;
  std::optional<double> budget_accelerator_hours;
  std::optional<double> budget_usd;
  std::optional<double> budget_tokens;  // Of models; nothing charges it yet but what asks one.
  int campaign_k = 200;
  double campaign_alpha = 0.10;
  int cap = 40;
  double beta = 0.20;
  double min_gain = 0.01;
  int same_pairs = 6;
  int per_family = 1;
  int queue = 50;  // Hypotheses that one profile may bring.
  double horizon_days = 30;
  double worth_at_least = 1;  // Hours given back per hour of proof; below that it is dropped.
  std::string gate_policy;    // Empty: a person decides.
  std::string docs_dir;       // For dream.
  int dream_every = 0;        // Cycles; 0: only when asked.
  double lease_s = 30;
  double idle_threshold = 0.05;
  std::string from;  // Where the settings were read; empty: defaults.
};

// Flags given on the command line; they win over variables, which win over the file.
struct Overrides {
  std::string config_file{};
  std::string state_dir{};
  std::string gate_policy{};
  std::optional<int> slots{};
};

// Looks where DESIGN says: --config, $AMDAHL_CONFIG, $XDG_CONFIG_HOME/amdahl/config.toml,
// /etc/amdahl/config.toml. A named file that is missing is an error; a default one is not.
Result<Config> load_config(const Overrides& overrides);

// The text of a configuration with every setting at its default and a comment each.
std::string config_template(const std::string& state_dir);

}  // namespace amdahl::app
