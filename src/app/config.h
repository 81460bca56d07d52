// config.h: the user's configuration: folders, prices, limits of the loop.
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
  launch::slurm::Settings slurm{};                                // [slurm].
  std::map<std::string, launch::slurm::Settings> slurm_families;  // [slurm.families.NAME], whole.
  std::string plug_in;                                            // For launcher = "command".
  std::vector<int> slots;               // CPUs that pairs may use; empty: all usable ones.
  double price_accelerator_hour = 2.0;  // USD.
  double price_cpu_hour = 0.02;
  std::optional<double> budget_accelerator_hours;
  std::optional<double> budget_usd;
  std::optional<double> budget_tokens;  // For models.
  int campaign_k = 200;
  double campaign_alpha = 0.10;
  int cap = 40;
  double beta = 0.05;
  double min_gain = 0.01;
  int same_pairs = 6;
  int per_family = 4;  // Concurrent experiments; they share the baseline's runs.
  int queue = 50;      // Hypotheses per profile.
  double horizon_days = 30;
  double worth_at_least = 1;       // Hours saved per hour of proof; below that an idea is dropped.
  bool busy_hosts = true;          // Also test surviving claims on busy hosts.
  std::string gate_policy;         // Empty: a person decides.
  std::string gate_branch;         // Prefix of branches that promotions write; empty: none.
  std::string gate_hook;           // Command after a promotion or rollback; empty: none.
  std::string webhook_url;         // Told of gate items, decisions and alarms; empty: nobody is.
  std::string webhook_secret_env;  // Variable with the key that signs them.
  int canary_runs = 200;   // Production runs over which a promoted change is watched; 0: none.
  int canary_one_in = 10;  // One in this many is held back.
  std::string docs_dir;    // For dream.
  int dream_every = 0;     // Cycles; 0: only on request.
  // Models: off unless one is named. See docs/guide/agents.md.
  std::string agent_local;  // Address of an OpenAI-compatible server.
  std::string agent_local_model;
  std::string agent_local_key_env;
  std::string agent_frontier;  // "claude", "codex" or "openai".
  std::string agent_frontier_model = "sonnet";
  std::string agent_frontier_program;
  std::string agent_frontier_url;
  std::string agent_key_env = "ANTHROPIC_API_KEY";
  bool agent_own_configuration = false;
  bool agent_unsandboxed = false;         // Run patches of models without a sandbox.
  std::optional<double> agent_input_usd;  // For a million tokens.
  std::optional<double> agent_output_usd;
  int agent_question_tokens = 60000;
  double agent_question_usd = 0.5;
  double agent_cycle_usd = 2;
  double agent_deadline_s = 600;
  int agent_attacks = 1;  // Questions that look for a flaw in each claimed win.
  double lease_s = 30;
  std::string ledger_url;      // Of a server that machines share; empty: a file in state_dir.
  std::string ledger_replica;  // Folder of this machine's replica of it; empty: in state_dir.
  double ledger_wait_s = 60;   // For a server that is away.
  double idle_threshold = 0.05;
  double scan_window_days = 7;               // Default window for live sources.
  double scan_keep_days = 90;                // How long unused kept data stays; 0: forever.
  double scan_co2_g_per_kwh = 480;           // The world's mean of 2023 (Ember).
  std::vector<ingest::Origin> scan_sources;  // [[scan.source]]: read in addition to local records.
  std::vector<scan::FamilyRule> family_rules;   // [[scan.family]].
  std::map<std::string, double> price_by_kind;  // [price.by_kind]: USD per accelerator-hour.
  bool one_job = false;                         // One person waits for one job: `amdahl tune`.
  std::string from;                             // File that was read; empty: none.
  // Setting ("gate.policy") to its source: "line 3", "AMDAHL_STATE", "--slots". Others have their
  // defaults.
  std::map<std::string, std::string> set_by;
};

// Command-line flags; they take precedence over variables, and those over the file.
struct Overrides {
  std::string config_file{};
  std::string state_dir{};
  std::string gate_policy{};
  std::string launcher{};
  std::optional<int> slots{};
};

// Reads the first existing of --config, $AMDAHL_CONFIG, config.toml in the state folder (from
// --state, $AMDAHL_STATE or the default), $XDG_CONFIG_HOME/amdahl/config.toml and
// /etc/amdahl/config.toml. A missing file is an error only if it was named.
Result<Config> load_config(const Overrides& overrides);

// The same without any file: for verbs that must work when it cannot be read.
Config defaults(const Overrides& overrides);

struct SettingRow {
  std::string name;   // "budget.usd".
  std::string value;  // As in the file; empty if unset.
  std::string from;   // "default", or as in Config::set_by.
  std::string meaning;
};
// Every setting, in the order of the template.
std::vector<SettingRow> settings(const Config& config);

// One setting; kNotFound with "did you mean".
Result<SettingRow> setting_named(const Config& config, const std::string& name);

// A configuration file with every setting at its default, with comments.
std::string config_template(const std::string& state_dir);

}  // namespace amdahl::app
