// config.h: what a person sets once: where things are, what they cost, how far the loop may go.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/origin.h"
#include "launch/slurm/settings.h"
#include "scan/family.h"

namespace amdahl::app {

struct Config {
  std::string state_dir;  // Ledger, runs, usage records, overlays.
  std::string launcher = "local";
  launch::slurm::Settings slurm{};      // [slurm].
  std::string plug_in;                  // For launcher = "command".
  std::vector<int> slots;               // CPUs that pairs may use; empty: all usable ones.
  double price_accelerator_hour = 2.0;  // USD.
  double price_cpu_hour = 0.02;
  std::optional<double> budget_accelerator_hours;
  std::optional<double> budget_usd;
  std::optional<double> budget_tokens;  // Of models.
  int campaign_k = 200;
  double campaign_alpha = 0.10;
  int cap = 40;
  double beta = 0.05;
  double min_gain = 0.01;
  int same_pairs = 6;
  int per_family = 4;  // Experiments at once; they share the baseline's runs.
  int queue = 50;      // Hypotheses that one profile may bring.
  double horizon_days = 30;
  double worth_at_least = 1;  // Hours given back per hour of proof; below that it is dropped.
  bool busy_hosts = true;     // Test what survives beside busy neighbours, too.
  std::string gate_policy;    // Empty: a person decides.
  int canary_runs = 200;      // Production runs over which a promoted change is watched; 0: none.
  int canary_one_in = 10;     // Of so many one is held back.
  std::string docs_dir;       // For dream.
  int dream_every = 0;        // Cycles; 0: only when asked.
  // Models: off until one is named. See docs/guide/agents.md.
  std::string agent_local;  // Address of an OpenAI-compatible server.
  std::string agent_local_model;
  std::string agent_local_key_env;
  std::string agent_frontier;  // "claude", "codex" or "openai".
  std::string agent_frontier_model = "sonnet";
  std::string agent_frontier_program;
  std::string agent_frontier_url;
  std::string agent_key_env = "ANTHROPIC_API_KEY";
  bool agent_own_configuration = false;
  std::optional<double> agent_input_usd;  // For a million tokens.
  std::optional<double> agent_output_usd;
  int agent_question_tokens = 60000;
  double agent_question_usd = 0.5;
  double agent_cycle_usd = 2;
  double agent_deadline_s = 600;
  double lease_s = 30;
  double idle_threshold = 0.05;
  double scan_window_days = 7;                  // What live sources are asked for.
  double scan_keep_days = 90;                   // What was read and is not used; 0: for ever.
  std::vector<ingest::Origin> scan_sources;     // [[scan.source]]: read besides what is here.
  std::vector<scan::FamilyRule> family_rules;   // [[scan.family]].
  std::map<std::string, double> price_by_kind;  // [price.by_kind]: USD an accelerator-hour.
  bool one_job = false;                         // One person waits for one job: `amdahl tune`.
  std::string from;                             // The file that was read; empty: none.
  // Setting ("gate.policy") to who set it: "line 3", "AMDAHL_STATE", "--slots". Others have their
  // defaults.
  std::map<std::string, std::string> set_by;
};

// Flags given on the command line; they win over variables, which win over the file.
struct Overrides {
  std::string config_file{};
  std::string state_dir{};
  std::string gate_policy{};
  std::string launcher{};
  std::optional<int> slots{};
};

// Reads the first there is of --config, $AMDAHL_CONFIG, config.toml in the state folder (that of
// --state, $AMDAHL_STATE or the default), $XDG_CONFIG_HOME/amdahl/config.toml and
// /etc/amdahl/config.toml. A named file that is missing is an error; a default one is not.
Result<Config> load_config(const Overrides& overrides);

// The same without any file: for those who must go on when it cannot be read.
Config defaults(const Overrides& overrides);

struct SettingRow {
  std::string name;   // "budget.usd".
  std::string value;  // As it would stand in the file; empty if there is none.
  std::string from;   // "default", or as in Config::set_by.
  std::string meaning;
};
// Every setting, in the order of the template.
std::vector<SettingRow> settings(const Config& config);

// One of them; kNotFound, with what was probably meant.
Result<SettingRow> setting_named(const Config& config, const std::string& name);

// The text of a configuration with every setting at its default and a comment each.
std::string config_template(const std::string& state_dir);

}  // namespace amdahl::app
