#include "model/spec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "base/redact.h"
#include "model/codec.h"
#include "model/flags.h"
#include "model/form.h"
#include "model/pattern.h"

namespace amdahl::model {
namespace {

bool is_family_name(std::string_view name) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && plain(name.front()) && std::ranges::all_of(name, [&](char c) {
    return plain(c) || c == '.' || c == '_' || c == '-';
  });
}

// Only by the letters of the path: whether it exists is for those who open it.
std::string absolute(std::string_view base, const std::string& path) {
  std::string whole = (std::filesystem::path(base) / path).lexically_normal().string();
  while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
  return whole;
}

void read_limits(Form& form, Spec& spec) {
  form.whole("accelerators", spec.accelerators, 1);
  form.whole("cpus", spec.cpus, 0);
  form.whole("nodes", spec.layout.nodes, 1);
  form.whole("tasks_per_node", spec.layout.tasks_per_node, 1);
  for (const auto& [name, value] :
       {std::pair{"accelerators", spec.accelerators}, std::pair{"cpus", spec.cpus}}) {
    if (spec.layout.nodes > 0 && value % spec.layout.nodes != 0) {
      form.fail(name, fmt::format("must be divisible by nodes, {}: it counts those of all nodes",
                                  spec.layout.nodes));
    }
  }
  if (const auto seconds = form.positive("time_limit_s")) {
    constexpr double kYear = 366.0 * 86400;
    if (*seconds > kYear) form.fail("time_limit_s", "must be a year or less");
    spec.time_limit = Nanos{std::llround(std::min(*seconds, kYear) * 1e9)};
  }
  spec.memory_limit_mb = form.positive("memory_limit_mb");
  form.text("pairing", spec.pairing);
  constexpr std::array<std::string_view, 5> kPairings = {"same-allocation", "same-node", "any",
                                                         "concurrent", "steps"};
  if (std::ranges::find(kPairings, spec.pairing) == kPairings.end()) {
    form.fail("pairing", fmt::format("must be same-allocation, same-node, any, concurrent or "
                                     "steps, not \"{}\"",
                                     spec.pairing));
  }
}

void read_env(Form& form, Spec& spec, Problem& problem) {
  const toml::table* table = form.table("env");
  if (!table) return;
  Form env(*table, "env.", problem);
  for (const auto& [key, node] : *table) {
    const std::string name(key.str());
    std::string value;
    env.word(name, value);
    if ((names_a_secret(name) && !is_reference(value)) || first_secret(Json{{name, value}})) {
      env.fail(name, fmt::format("looks like a secret: remove it, then the job inherits it from "
                                 "the environment, or write {} = \"{{env:NAME}}\"",
                                 name));
    }
    spec.env[name] = value;
  }
}

// Sets `lower` from the text.
void read_direction(Form& form, bool& lower) {
  std::string direction;
  form.text("direction", direction);
  if (direction.empty() && !form.has("direction")) return;
  if (direction != "lower" && direction != "higher") {
    form.fail("direction", fmt::format("must be lower or higher, not \"{}\"", direction));
  }
  lower = direction == "lower";
}

void check_pattern(Form& form, const std::string& pattern) {
  const auto made = WorkPattern::make(pattern);
  if (!made) form.fail("pattern", made.error().text);
}

void read_measures(Form& form, Spec& spec, Problem& problem) {
  if (const toml::table* table = form.table("metric")) {
    Form metric(*table, "metric.", problem);
    metric.allow({"name", "direction"});
    metric.must("name");
    metric.text("name", spec.metric);
    read_direction(metric, spec.lower_is_better);
  }
  if (const toml::table* table = form.table("work")) {
    Form work(*table, "work.", problem);
    work.allow({"unit", "pattern", "fixed"});
    work.text("unit", spec.work_unit);
    work.text("pattern", spec.work_pattern);
    if (!spec.work_pattern.empty()) check_pattern(work, spec.work_pattern);
    spec.fixed_work = work.positive("fixed");
    if (spec.fixed_work && !spec.work_pattern.empty()) {
      work.fail("fixed", "cannot be combined with work.pattern: keep one of them");
    }
  }
  form.tables("outputs", [&](Form& row) {
    Output output;
    row.allow({"path", "digest"});
    row.must("path");
    row.text("path", output.path);
    row.truth("digest", output.digest);
    spec.outputs.push_back(output);
  });
  form.tables("quality", [&](Form& row) {
    Quality quality;
    row.allow({"name", "tolerance", "direction", "pattern"});
    row.must("name");
    row.text("name", quality.name);
    quality.tolerance = row.number("tolerance").value_or(0);
    if (quality.tolerance < 0) row.fail("tolerance", "must be 0 or more");
    bool lower = !quality.higher_is_better;
    read_direction(row, lower);
    quality.higher_is_better = !lower;
    row.text("pattern", quality.pattern);
    if (!quality.pattern.empty()) check_pattern(row, quality.pattern);
    spec.quality.push_back(quality);
  });
}

// The command's value is the baseline's; the spec may repeat it but not contradict it.
void check_value(Form& form, const Spec& spec, Knob& knob) {
  Flag flag{{knob.arg}, Flag::Takes::kUnknown};
  flag.spellings.insert(flag.spellings.end(), knob.aliases.begin(), knob.aliases.end());
  const bool valued = !knob.value.empty() || !knob.on.empty() || knob.min || knob.max;
  if (!valued) return;
  flag.takes = Flag::Takes::kValue;
  const std::optional<std::string> found = value_in(spec.command, flag);
  if (!found) return;
  if (knob.value.empty()) knob.value = *found;
  const auto number = to_number<double>(*found);
  const bool same = *found == knob.value || (number && number == to_number<double>(knob.value));
  if (same) return;
  form.fail("value",
            fmt::format("is \"{}\", but the command has {} {}", knob.value, knob.arg, *found));
}

Knob read_knob(Form& form, const Spec& spec, const std::string& name) {
  Knob knob;
  knob.name = name;
  form.allow(
      {"arg", "aliases", "env", "config", "value", "min", "max", "on", "off", "choices", "effect"});
  form.text("arg", knob.arg);
  form.texts("aliases", knob.aliases);
  form.text("env", knob.env);
  form.text("config", knob.config);
  form.word("value", knob.value);
  form.word("on", knob.on);
  form.word("off", knob.off);
  form.texts("choices", knob.choices);
  form.text("effect", knob.effect);
  constexpr std::array<std::string_view, 4> kEffects = {"", "exact", "tolerant", "semantic"};
  if (std::ranges::find(kEffects, knob.effect) == kEffects.end()) {
    form.fail("effect",
              fmt::format("must be exact, tolerant or semantic, not \"{}\"", knob.effect));
  }
  knob.min = form.number("min");
  knob.max = form.number("max");
  if (knob.min && knob.max && *knob.min > *knob.max) {
    form.fail("min", fmt::format("is {}, greater than max, {}", *knob.min, *knob.max));
  }
  if (!knob.aliases.empty() && knob.arg.empty()) form.fail("aliases", "requires arg");
  if (!knob.config.empty() && knob.config.find('#') == knob.config.npos) {
    form.fail("config", fmt::format("must be \"file.json#key.path\", not \"{}\"", knob.config));
  }
  if (!knob.arg.empty()) check_value(form, spec, knob);
  return knob;
}

void read_knobs(Form& form, Spec& spec, Problem& problem) {
  const toml::table* table = form.table("knobs");
  if (!table) return;
  std::vector<std::string_view> known;
  for (const KnownKnob& knob : known_knobs()) known.push_back(knob.name);
  Form knobs(*table, "knobs.", problem);
  for (const auto& [key, node] : *table) {
    const std::string name(key.str());
    if (std::ranges::find(known, name) == known.end()) knobs.unknown("knob", key, known);
    const toml::table* row = knobs.table(name);
    if (!row) continue;
    Form inner(*row, fmt::format("knobs.{}.", name), problem);
    Knob knob = read_knob(inner, spec, name);
    const int ways = !knob.arg.empty() + !knob.env.empty() + !knob.config.empty();
    if (ways != 1) knobs.fail(name, "needs exactly one of arg, env and config");
    spec.knobs[name] = std::move(knob);
  }
}

void read_words(Form& form, std::string_view key, std::map<std::string, std::string>& into,
                Problem& problem) {
  const toml::table* table = form.table(key);
  if (!table) return;
  Form words(*table, fmt::format("strata.{}.", key), problem);
  for (const auto& [name, node] : *table) words.word(name.str(), into[std::string(name.str())]);
}

// Shares are scaled to sum to 1, so that a person may count runs instead.
void read_strata(Form& form, Spec& spec, Problem& problem) {
  double sum = 0;
  form.tables("strata", [&](Form& row) {
    Stratum stratum;
    row.allow({"name", "weight", "size", "env", "args"});
    row.must("name");
    row.text("name", stratum.name);
    if (std::ranges::find(spec.strata, stratum.name, &Stratum::name) != spec.strata.end()) {
      row.fail("name", fmt::format("\"{}\" is not unique", stratum.name));
    }
    stratum.weight = row.positive("weight").value_or(1);
    stratum.size = row.positive("size").value_or(0);
    read_words(row, "env", stratum.env, problem);
    read_words(row, "args", stratum.args, problem);
    sum += stratum.weight;
    spec.strata.push_back(std::move(stratum));
  });
  for (Stratum& stratum : spec.strata) stratum.weight /= sum;
}

void read_command(Form& form, Spec& spec) {
  form.must("command");
  form.texts("command", spec.command);
  if (spec.command.empty() || spec.command.front().empty()) form.fail("command", "is empty");
  const std::string line = join(spec.command, " ");
  if (redact(line) != line || first_secret(Json(spec.command))) {
    form.fail("command",
              "seems to contain a secret: let the job read it from the environment, or write "
              "{env:NAME} instead");
  }
}

// How patches are made and tested, and what an agent's may touch.
void read_patches(Form& form, Spec& spec) {
  form.texts("build", spec.build);
  form.texts("check", spec.check);
  form.texts("paths", spec.paths);
  form.texts("deny", spec.deny);
  form.truth("network", spec.network);
  const bool needs_repo =
      !spec.check.empty() || !spec.paths.empty() || !spec.deny.empty() || spec.network;
  if (needs_repo && spec.repo.empty()) {
    form.fail("repo", "is required with check, paths, deny and network: they are about patches");
  }
}

void read_spec(Form& form, Spec& spec, std::string_view base_dir, Problem& problem) {
  form.allow({"family",          "command", "workdir", "repo",         "build",  "check",
              "paths",           "deny",    "network", "accelerators", "cpus",   "time_limit_s",
              "memory_limit_mb", "pairing", "inputs",  "env",          "metric", "work",
              "outputs",         "quality", "knobs",   "strata",       "nodes",  "tasks_per_node"});
  form.must("family");
  form.text("family", spec.family);
  if (!is_family_name(spec.family)) {
    form.fail("family", fmt::format("must be lower-case letters, digits, \".\", \"_\" and \"-\", "
                                    "not \"{}\"",
                                    spec.family));
  }
  read_command(form, spec);
  std::string workdir;
  form.text("workdir", workdir);
  spec.workdir = absolute(base_dir, workdir);
  form.text("repo", spec.repo);
  if (!spec.repo.empty()) spec.repo = absolute(base_dir, spec.repo);
  read_patches(form, spec);
  form.texts("inputs", spec.inputs);
  read_limits(form, spec);
  read_env(form, spec, problem);
  read_measures(form, spec, problem);
  read_knobs(form, spec, problem);
  read_strata(form, spec, problem);
}

}  // namespace

Result<Spec> parse_spec(std::string_view toml, std::string_view where, std::string_view base_dir) {
  toml::table table;
  try {
    table = toml::parse(toml);
  } catch (const toml::parse_error& e) {
    return bad_input(fmt::format("{}: line {}, column {}: {}", where, e.source().begin.line,
                                 e.source().begin.column, e.description()));
  }
  Spec spec;
  Problem problem;
  Form form(table, "", problem);
  read_spec(form, spec, base_dir, problem);
  if (problem.found()) return bad_input(fmt::format("{}: {}", where, problem.text));
  if (const auto secret = first_secret(encode(spec))) {
    return bad_input(
        fmt::format("{}: {} seems to contain a secret: put it into the environment and write "
                    "{{env:NAME}} instead",
                    where, secret->substr(1)));
  }
  return spec;
}

}  // namespace amdahl::model
