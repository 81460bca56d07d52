#include "app/config.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "app/config_fields.h"
#include "app/config_scan.h"
#include "base/text.h"
#include "launch/launcher.h"
#include "ledger/ledger.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::app {
namespace {

using fields::Example;
using fields::Field;
using fields::ReadInto;
using fields::Show;
using fields::Wanted;
using launch::slurm::Settings;

// One setting: where it stands in the file and what it means. Help and reader use the same rows.
struct Setting {
  std::string_view table;
  std::string_view key;
  Field field;
  std::string_view meaning;
};

constexpr auto kSettings = std::to_array<Setting>({
    {"", "state_dir", &Config::state_dir, "ledger, runs, usage records, overlays"},
    {"", "launcher", &Config::launcher, "where pairs run: local, slurm, command"},
    {"", "plug_in", &Config::plug_in,
     "folder with the programs of launcher = \"command\" (docs/format/launcher.md)"},
    {"", "slots", &Config::slots,
     "CPUs that pairs may use: a count or a list; default: all here, 32 on a cluster"},
    {"price", "accelerator_hour_usd", &Config::price_accelerator_hour,
     "for roi, the cost check and budget.usd"},
    {"price", "cpu_hour_usd", &Config::price_cpu_hour, "for the cost check and budget.usd"},
    {"budget", "accelerator_hours", &Config::budget_accelerator_hours,
     "experiments may spend this much; default: no limit"},
    {"budget", "usd", &Config::budget_usd,
     "and this much money, accelerators and CPUs at the prices above; default: no limit"},
    {"budget", "tokens", &Config::budget_tokens, "tokens that models may use; default: no limit"},
    {"campaign", "k", &Config::campaign_k, "hypotheses in one campaign"},
    {"campaign", "alpha", &Config::campaign_alpha, "share of false promotions at most"},
    {"compare", "cap", &Config::cap, "pairs at most before 'inconclusive'"},
    {"compare", "beta", &Config::beta, "chance of dropping an effect that just matters"},
    {"compare", "min_gain", &Config::min_gain, "smallest predicted saving worth a test"},
    {"compare", "same_pairs", &Config::same_pairs, "A/A pairs per family"},
    {"loop", "per_family", &Config::per_family,
     "experiments of one family at once; they share the baseline's runs"},
    {"loop", "queue", &Config::queue, "hypotheses that one profile may bring at most"},
    {"loop", "horizon_days", &Config::horizon_days, "over which a saving must pay back"},
    {"loop", "worth_at_least", &Config::worth_at_least,
     "hours given back per hour of proof, below which an idea is dropped"},
    {"loop", "busy_hosts", &Config::busy_hosts,
     "also test surviving claims on a busy host; six pairs"},
    {"loop", "lease_s", &Config::lease_s, "after this silence a cycle counts as dead"},
    {"ledger", "url", &Config::ledger_url,
     "postgresql://USER@HOST/DATABASE of a ledger that machines share; empty: a file in state_dir"},
    {"ledger", "replica", &Config::ledger_replica,
     "folder on a local disk for this machine's replica of it; empty: state_dir/replicas"},
    {"ledger", "wait_s", &Config::ledger_wait_s,
     "how long a write waits for a server that is away"},
    {"gate", "policy", &Config::gate_policy, "approve by this policy; empty: a person decides"},
    {"gate", "branch", &Config::gate_branch,
     "promotions write a branch of the family's repo with this prefix, \"amdahl/\"; empty: none"},
    {"gate", "hook", &Config::gate_hook,
     "shell command after a promotion or rollback (docs/format/promotion.md); empty: none"},
    {"webhook", "url", &Config::webhook_url,
     "address that receives gate items, decisions and alarms (docs/format/webhook.md)"},
    {"webhook", "secret_env", &Config::webhook_secret_env, "variable with the key that signs them"},
    {"canary", "runs", &Config::canary_runs,
     "production runs over which a promoted change is watched; 0: no canary"},
    {"canary", "one_in", &Config::canary_one_in,
     "one production run in this many goes without the change"},
    {"dream", "docs", &Config::docs_dir, "folder of documents to search"},
    {"dream", "every", &Config::dream_every, "dream every Nth cycle; 0: only when asked"},
    {"slurm", "partition", &Settings::partition, "for sbatch; empty: the cluster's default"},
    {"slurm", "account", &Settings::account, "for sbatch; empty: the user's default"},
    {"slurm", "qos", &Settings::qos, "for sbatch; empty: the user's default"},
    {"slurm", "constraint", &Settings::constraint, "features that nodes must have"},
    {"slurm", "gres", &Settings::gres, "what an accelerator is: gpu, gpu:a100; empty: a CPU slot"},
    {"slurm", "exclusive", &Settings::exclusive,
     "whole nodes; all accelerators of the node are charged"},
    {"slurm", "nice", &Settings::nice, "lowers the priority of experiments by so much"},
    {"slurm", "options", &Settings::options, "more options for sbatch, passed on as they are"},
    {"slurm", "wrap", &Settings::wrap, "program that starts the worker, such as apptainer exec"},
    {"slurm", "modules", &Settings::modules, "modules that are loaded before the worker starts"},
    {"slurm", "export", &Settings::exported, "variables that jobs get besides the pinned ones"},
    {"slurm", "most_queued", &Settings::most_queued,
     "runs that may wait in the queue while the cluster is full"},
    {"slurm", "poll_s", &Settings::poll, "Slurm is asked at most this often"},
    {"slurm", "settle_s", &Settings::settle,
     "a job that neither squeue nor sacct shows is absent after this long"},
    {"agent", "local", &Config::agent_local,
     "address of an OpenAI-compatible server, http://HOST:PORT/v1; empty: none"},
    {"agent", "local_model", &Config::agent_local_model, "its model"},
    {"agent", "local_key_env", &Config::agent_local_key_env, "variable with its key; empty: none"},
    {"agent", "frontier", &Config::agent_frontier,
     "asked when rules and the local model have nothing left: claude, codex or openai; empty: "
     "none"},
    {"agent", "frontier_model", &Config::agent_frontier_model, "its model"},
    {"agent", "frontier_program", &Config::agent_frontier_program,
     "path of the client; default: found on PATH"},
    {"agent", "frontier_url", &Config::agent_frontier_url, "address of its server, if not its own"},
    {"agent", "key_env", &Config::agent_key_env, "variable with its key"},
    {"agent", "own_configuration", &Config::agent_own_configuration,
     "let the client use your own login and configuration"},
    {"agent", "unsandboxed", &Config::agent_unsandboxed,
     "run patches of models without a sandbox, where bubblewrap does not work"},
    {"agent", "input_usd", &Config::agent_input_usd, "price of a million tokens read"},
    {"agent", "output_usd", &Config::agent_output_usd, "and written; default: the list price"},
    {"agent", "question_tokens", &Config::agent_question_tokens, "tokens of one question at most"},
    {"agent", "question_usd", &Config::agent_question_usd, "and its cost at most"},
    {"agent", "cycle_usd", &Config::agent_cycle_usd, "cost of all questions of one cycle at most"},
    {"agent", "deadline_s", &Config::agent_deadline_s, "time for an answer"},
    {"agent", "attacks", &Config::agent_attacks,
     "questions that look for a flaw in each claimed win, at most 5; 0: none"},
    {"scan", "idle_threshold", &Config::idle_threshold,
     "idle threshold (0–1); 0 % always counts as idle"},
    {"scan", "window_days", &Config::scan_window_days, "window of a scan of servers and Slurm"},
    {"scan", "keep_days", &Config::scan_keep_days,
     "kept data of scans that was not used for so long is removed; 0: never"},
    {"scan", "co2_g_per_kwh", &Config::scan_co2_g_per_kwh,
     "of your grid, for the CO2 of energy; default: the world's mean of 2023 (Ember)"},
});

std::string full_name(const Setting& setting) {
  return setting.table.empty() ? std::string(setting.key)
                               : fmt::format("{}.{}", setting.table, setting.key);
}

Error unknown(std::string_view name, std::string_view where, std::size_t line) {
  std::vector<std::string> names;
  for (const Setting& s : kSettings) names.push_back(full_name(s));
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto near = did_you_mean(name, views);
  return bad_input(fmt::format("{}: line {}: no setting '{}'{}", where, line, name,
                               near ? fmt::format(", did you mean '{}'?", *near) : ""));
}

constexpr std::string_view kFamilies = "slurm.families";

Result<> read_table(const toml::table& table, std::string_view prefix, std::string_view where,
                    Config& config);

// [slurm.families.NAME]: what differs from [slurm] for the jobs of one family.
Result<> read_families(const toml::node& node, std::string_view where, Config& config) {
  const auto wrong = [&](const toml::node& at, const std::string& why) {
    return bad_input(fmt::format("{}: line {}: {}", where, at.source().begin.line, why));
  };
  const toml::table* families = node.as_table();
  if (!families) return wrong(node, "slurm.families must be tables: [slurm.families.NAME]");
  for (const auto& [key, table] : *families) {
    const std::string family(key.str());
    if (!table.is_table()) return wrong(table, "write [slurm.families.NAME] before its settings");
    Config own;
    own.slurm = config.slurm;
    TRY(read_table(*table.as_table(), "slurm", where, own));
    for (const auto& [name, set_by] : own.set_by) {
      const std::string of_family = fmt::format("{}.{}.{}", kFamilies, family, name.substr(6));
      for (const std::string_view common :
           {"slurm.most_queued", "slurm.poll_s", "slurm.settle_s"}) {
        if (name == common) return wrong(table, fmt::format("{} is for all families", name));
      }
      config.set_by[of_family] = set_by;
    }
    config.slurm_families[family] = own.slurm;
  }
  return Ok{};
}

Result<> read_table(const toml::table& table, std::string_view prefix, std::string_view where,
                    Config& config) {
  for (const auto& [key, node] : table) {
    const std::string name =
        prefix.empty() ? std::string(key.str()) : fmt::format("{}.{}", prefix, key.str());
    if (name == kFamilies) continue;
    if (prefix.empty() && node.is_table()) {
      TRY(read_table(*node.as_table(), key.str(), where, config));
      continue;
    }
    if (is_scan_table(name)) {
      TRY(read_scan_table(name, node, where, config));
      continue;
    }
    const auto row = std::ranges::find(kSettings, name, full_name);
    if (row == kSettings.end()) return unknown(name, where, node.source().begin.line);
    if (!std::visit(ReadInto{node, config}, row->field)) {
      return bad_input(fmt::format("{}: line {}: {} must be {}", where, node.source().begin.line,
                                   name, std::visit(Wanted{}, row->field)));
    }
    config.set_by[name] = fmt::format("line {}", node.source().begin.line);
  }
  const toml::node* families = prefix == "slurm" ? table.get("families") : nullptr;
  return families == nullptr ? Result<>(Ok{}) : read_families(*families, where, config);
}

Result<> read_toml(const std::string& text, const std::string& where, Config& config) {
  try {
    return read_table(toml::parse(text, where), "", where, config);
  } catch (const toml::parse_error& e) {
    return bad_input(fmt::format("{}: line {}, column {}: {}", where, e.source().begin.line,
                                 e.source().begin.column, e.description()));
  }
}

std::string default_state_dir() {
  const std::string home = os::env_or("HOME", "/root");
  return os::env_or("XDG_STATE_HOME", home + "/.local/state") + "/amdahl";
}

// The state folder as far as it is known before any file was read.
std::string likely_state_dir(const Overrides& overrides) {
  if (!overrides.state_dir.empty()) return overrides.state_dir;
  return os::env_or("AMDAHL_STATE", default_state_dir());
}

Result<> read_files(const Overrides& overrides, Config& config) {
  const std::string home = os::env_or("HOME", "/root");
  const bool flag = !overrides.config_file.empty();
  const std::string named = flag ? overrides.config_file : os::env_or("AMDAHL_CONFIG", "");
  if (!named.empty()) {
    config.from = named;
    const auto text = os::read_file(named);
    if (!text) {
      return Error{text.error().kind,
                   fmt::format("{}, which {} names; type: amdahl init", text.error().text,
                               flag ? "--config" : "AMDAHL_CONFIG")};
    }
    return read_toml(*text, named, config);
  }
  for (const std::string& path :
       {likely_state_dir(overrides) + "/config.toml",
        os::env_or("XDG_CONFIG_HOME", home + "/.config") + "/amdahl/config.toml",
        std::string("/etc/amdahl/config.toml")}) {
    if (!os::exists(path)) continue;
    config.from = path;
    return read_toml(TRY(os::read_file(path)), path, config);
  }
  return Ok{};
}

// On a cluster a slot is a CPU of some node: only their number counts.
Result<> set_slots(const Overrides& overrides, Config& config) {
  constexpr int kOnACluster = 32;
  if (overrides.slots && *overrides.slots < 1) return bad_input("--slots must be at least 1");
  if (overrides.slots) config.set_by["slots"] = "--slots";
  const auto kind = std::ranges::find(launch::kinds(), config.launcher, &launch::Kind::name);
  if (kind != launch::kinds().end() && kind->allocates) {
    const int given = config.slots.empty() ? kOnACluster : static_cast<int>(config.slots.size());
    const int count = overrides.slots.value_or(given);
    config.slots.clear();
    for (int slot = 0; slot < count; ++slot) config.slots.push_back(slot);
    return Ok{};
  }
  if (config.slots.empty()) config.slots = os::usable_cpus();
  if (overrides.slots) {
    config.slots.resize(std::min(config.slots.size(), static_cast<std::size_t>(*overrides.slots)));
  }
  // More than a CPU quota can keep busy may be asked for; other CPUs may not.
  const std::vector<int> allowed = os::affinity_cpus();
  for (const int cpu : config.slots) {
    if (std::ranges::find(allowed, cpu) == allowed.end()) {
      return bad_input(fmt::format("slots names CPU {}, which this process may not use", cpu));
    }
  }
  return Ok{};
}

}  // namespace

Result<Config> load_config(const Overrides& overrides) {
  Config config;
  TRY(read_files(overrides, config).in("configuration"));
  const auto take = [&](const std::string& name, std::string Config::*field, const char* who,
                        const std::string& value) {
    if (value.empty()) return;
    config.*field = value;
    config.set_by[name] = who;
  };
  take("state_dir", &Config::state_dir, "AMDAHL_STATE", os::env_or("AMDAHL_STATE", ""));
  take("state_dir", &Config::state_dir, "--state", overrides.state_dir);
  const std::string policy = os::env_or("AMDAHL_GATE_POLICY", "");
  take("gate.policy", &Config::gate_policy, "AMDAHL_GATE_POLICY", policy);
  take("gate.policy", &Config::gate_policy, "--gate-policy", overrides.gate_policy);
  take("launcher", &Config::launcher, "AMDAHL_LAUNCHER", os::env_or("AMDAHL_LAUNCHER", ""));
  take("launcher", &Config::launcher, "--launcher", overrides.launcher);
  take("ledger.url", &Config::ledger_url, "AMDAHL_LEDGER_URL", os::env_or("AMDAHL_LEDGER_URL", ""));
  if (!config.ledger_url.empty()) TRY(ledger::check_address(config.ledger_url).in("ledger.url"));
  if (config.state_dir.empty()) config.state_dir = default_state_dir();
  config.state_dir = os::absolute(config.state_dir);

  if (config.canary_one_in < 2) return bad_input("canary.one_in must be at least 2");
  if (!(config.idle_threshold <= 1)) {
    return bad_input("scan.idle_threshold is a utilisation: it must be from 0 to 1");
  }

  TRY(set_slots(overrides, config));
  return config;
}

Config defaults(const Overrides& overrides) {
  Config config;
  config.state_dir = os::absolute(likely_state_dir(overrides));
  config.slots = os::usable_cpus();
  return config;
}

std::string config_template(const std::string& state_dir) {
  Config config;
  config.state_dir = state_dir;
  std::string text = "# Amdahl Loop. Every setting with its default; take the # away to set it.\n";
  std::string_view table;
  for (const Setting& s : kSettings) {
    if (s.table != table) text += fmt::format("\n[{}]\n", table = s.table);
    const bool set = s.key == "state_dir" && !state_dir.empty();
    const std::string shown = std::visit(Show{config}, s.field);
    text += fmt::format("{}{} = {}  # {}\n", set ? "" : "# ", s.key,
                        shown.empty() ? std::visit(Example{}, s.field) : shown, s.meaning);
  }
  return text;
}

std::vector<SettingRow> settings(const Config& config) {
  std::vector<SettingRow> rows;
  for (const Setting& s : kSettings) {
    const std::string name = full_name(s);
    const auto set_by = config.set_by.find(name);
    rows.push_back({name, std::visit(Show{config}, s.field),
                    set_by == config.set_by.end() ? "default" : set_by->second,
                    std::string(s.meaning)});
  }
  for (const auto& [family, own] : config.slurm_families) {
    Config of_family;
    of_family.slurm = own;
    for (const Setting& s : kSettings) {
      const std::string name = fmt::format("{}.{}.{}", kFamilies, family, s.key);
      const auto set_by = config.set_by.find(name);
      if (s.table != "slurm" || set_by == config.set_by.end()) continue;
      rows.push_back(
          {name, std::visit(Show{of_family}, s.field), set_by->second, std::string(s.meaning)});
    }
  }
  return rows;
}

Result<SettingRow> setting_named(const Config& config, const std::string& name) {
  const std::vector<SettingRow> rows = settings(config);
  const auto row = std::ranges::find(rows, name, &SettingRow::name);
  if (row != rows.end()) return *row;
  std::vector<std::string_view> names;
  for (const SettingRow& r : rows) names.push_back(r.name);
  const auto near = did_you_mean(name, names);
  return Error{Error::Kind::kNotFound,
               fmt::format("there is no setting '{}'{}; type: amdahl config", name,
                           near ? fmt::format(", did you mean '{}'?", *near) : "")};
}

}  // namespace amdahl::app
