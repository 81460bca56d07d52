#include "cli/options.h"

#include <algorithm>
#include <array>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/text.h"
#include "cli/verbs.h"

namespace amdahl::cli {
namespace {

constexpr auto kOptions = std::to_array<Option>({
    {"", "--state", "DIR", &Flags::state, "state folder (ledger, runs, usage records)"},
    {"", "--config", "FILE", &Flags::config, "configuration file"},
    {"", "--json", "", &Flags::json, "one JSON document on stdout"},
    {"", "--no-color", "", &Flags::no_color, "no colours"},
    {"", "-h,--help", "", &Flags::help, "what this verb does, with an example"},

    {"run", "--family", "NAME", &Flags::family, "what this is a job of"},
    {"run", "--accelerators", "N", &Flags::accelerators, "how many it is given"},
    {"run", "--time-limit", "S", &Flags::time_limit, "kill it after so many seconds"},
    {"run", "--memory-limit", "MB", &Flags::memory_limit, "kill it above this"},
    {"run", "--quiet", "", &Flags::quiet, "do not show the job's output"},
    {"run", "--spec", "FILE", &Flags::spec, "run the job of this spec"},
    {"run", "--promoted", "", &Flags::promoted, "with what was promoted for its family"},

    {"tune", "--budget", "LIMIT", &Flags::budget, "20m, 1h30m; 2ah (accelerator-hours); $5 (30m)"},
    {"tune", "--family", "NAME", &Flags::family, "what this is a job of"},
    {"tune", "--accelerators", "N", &Flags::accelerators, "how many it is given"},
    {"tune", "--spec", "FILE", &Flags::spec, "tune the job of this spec"},
    {"tune", "--slots", "N", &Flags::slots, "CPU slots to use"},
    {"tune", "--quiet", "", &Flags::quiet, "the result alone"},

    {"scan", "--source", "NAME=WHERE", &Flags::sources,
     "prometheus=http://host:9090, slurm, csv=FILE, or a PATH; may be repeated"},
    {"scan", "--from", "TIME", &Flags::from, "start of the window: 2026-11-15, -7d (UTC)"},
    {"scan", "--to", "TIME", &Flags::to, "its end; default of live sources: now"},
    {"scan", "--window", "LENGTH", &Flags::window, "its length: 7d, 36h"},
    {"scan", "--by", "WHAT", &Flags::by,
     "rows: family, job, user, account, partition, node, state or kind"},
    {"scan", "--top", "N", &Flags::top, "rows at most (20); 0: all"},
    {"scan", "--order", "BY", &Flags::order, "recoverable, wasted, allocated, lost or queue"},
    {"scan", "--trend", "EVERY", &Flags::trend,
     "waste by day, week, 12h: of the fleet and families"},
    {"scan", "--metric", "NAME", &Flags::metric, "only this metric of a server"},
    {"scan", "--idle", "SHARE", &Flags::idle, "utilisation below is idle, and 0 always: 0, 0.05"},
    {"scan", "--fields", "LIST", &Flags::fields, "of sacct without a header, as after its -o"},
    {"scan", "--map", "FILE", &Flags::map, "TOML that says what the columns of a table mean"},
    {"scan", "--time-zone", "ZONE", &Flags::time_zone,
     "of times without one; else told by the data"},
    {"scan", "--host", "NAME", &Flags::host, "whose file it is, if it does not say"},
    {"scan", "--price", "USD", &Flags::price, "per accelerator-hour"},
    {"scan", "--step", "LENGTH", &Flags::step, "between points of a server; default: its scrapes"},
    {"scan", "--token-env", "NAME", &Flags::token_env, "variable with a server's bearer token"},
    {"scan", "--token-file", "FILE", &Flags::token_file, "file with it"},
    {"scan", "--user", "NAME", &Flags::user, "of a server with basic authentication"},
    {"scan", "--password-env", "NAME", &Flags::password_env, "variable with the password"},
    {"scan", "--password-file", "FILE", &Flags::password_file, "file with it"},
    {"scan", "--header", "TEXT", &Flags::headers,
     "'Name: value' for a server, or 'Name: $VARIABLE'"},
    {"scan", "--explain-input", "", &Flags::explain_input,
     "how each input was read, joined and what was dropped"},
    {"scan", "--csv", "", &Flags::csv, "the rows as CSV, in hours"},
    {"scan", "--html", "FILE", &Flags::html, "write a page with pictures, too"},
    {"scan", "--job", "ID", &Flags::job, "draw the anatomy of this job instead"},
    {"scan", "--fresh", "", &Flags::fresh, "read all anew, whatever an earlier scan kept"},
    {"scan", "--threads", "N", &Flags::threads, "for reading; default: one for each CPU, up to 8"},
    {"scan", "--progress", "", &Flags::progress, "show how far it is, even where nobody looks"},
    {"scan", "--width", "N", &Flags::width, "columns to write in"},
    {"scan", "--ascii", "", &Flags::ascii, "draw with plain letters"},

    {"anatomy", "--width", "N", &Flags::width, "columns to draw in"},
    {"anatomy", "--ascii", "", &Flags::ascii, "draw with plain letters"},

    {"adopt", "--family", "NAME", &Flags::family, "name of the family"},
    {"adopt", "--output", "FILE", &Flags::output, "where to write the spec"},
    {"adopt", "--spec", "FILE", &Flags::spec, "adopt this spec instead of a job"},
    {"adopt", "--replace", "", &Flags::replace, "put it in place of the family's present spec"},

    {"profile", "--show", "", &Flags::show, "show the latest, do not run"},
    {"profile", "--what-if", "LIST", &Flags::what_if,
     "replay traces with causes changed: input=0,logging=0.5,kernel:gemm=0.8"},
    {"profile", "--html", "FILE", &Flags::html, "write a page with the timeline, too"},
    {"profile", "--hta", "", &Flags::hta, "with the figures of Holistic Trace Analysis"},
    {"profile", "--nsys", "", &Flags::nsys, "run the command inside Nsight Systems"},
    {"profile", "--ncu", "", &Flags::ncu, "run the command inside Nsight Compute"},
    {"profile", "--syscalls", "", &Flags::syscalls, "count system calls, too"},
    {"profile", "--family", "NAME", &Flags::family, "what the command is a job of"},
    {"profile", "--accelerators", "N", &Flags::accelerators, "how many the command is given"},
    {"profile", "--quiet", "", &Flags::quiet, "do not show the command's output"},
    {"profile", "--format", "NAME", &Flags::format, "of the files, if their content does not tell"},

    {"propose", "--env", "NAME=VALUE", &Flags::env, "set a variable; NAME alone unsets it"},
    {"propose", "--arg", "FLAG=VALUE", &Flags::args, "set a flag; FLAG alone is a bare flag"},
    {"propose", "--set", "FILE#KEY=VALUE", &Flags::sets,
     "set a key of a JSON, TOML or YAML file that its command names"},
    {"propose", "--accelerators", "N", &Flags::accelerators, "give it so many"},
    {"propose", "--inject", "FIX=VALUE", &Flags::inject,
     "put a fix of playbook/inject/ into its Python processes; FIX alone if it takes no value"},
    {"propose", "--patch", "FILE", &Flags::patch, "a unified diff against the spec's repo"},
    {"propose", "--title", "TEXT", &Flags::title, "what people call it"},
    {"propose", "--gain", "PERCENT", &Flags::gain, "how much it should save"},
    {"propose", "--cause", "NAME", &Flags::cause, "the cause of the latest profile it acts on"},
    {"propose", "--as", "NAME", &Flags::as, "who proposes it"},

    {"cycle", "--watch", "", &Flags::watch, "go on until nothing is left to do"},
    {"cycle", "--until", "WHEN", &Flags::until, "settled, first-win or never"},
    {"cycle", "--slots", "N", &Flags::slots, "CPU slots to use"},
    {"cycle", "--gate-policy", "NAME", &Flags::gate_policy, "let a policy decide at the gate"},
    {"cycle", "--refresh", "", &Flags::refresh, "profile every family anew"},
    {"cycle", "--quiet", "", &Flags::quiet, "say nothing but the summary"},

    {"gate", "--reason", "TEXT", &Flags::reason, "why"},
    {"gate", "--as", "NAME", &Flags::as, "who decides; default: your login"},

    {"canary", "--reason", "TEXT", &Flags::reason, "why the change is kept"},
    {"canary", "--as", "NAME", &Flags::as, "who keeps it; default: your login"},

    {"stack", "--pairs", "N", &Flags::pairs, "pairs to measure"},
    {"stack", "--show", "", &Flags::show, "show the latest, do not run"},

    {"ledger", "--hypothesis-state", "STATE", &Flags::hypothesis_state,
     "only those: live, parked, refuted, ..."},
    {"ledger", "--family", "NAME", &Flags::family, "only this family's"},
    {"ledger", "--limit", "N", &Flags::limit, "rows at most"},
    {"ledger", "--before", "N", &Flags::before, "list: only those older than number N"},
    {"ledger", "--output", "FILE", &Flags::output, "where to export to"},
    {"ledger", "--reason", "TEXT", &Flags::reason, "why it is reopened"},
    {"ledger", "--as", "NAME", &Flags::as, "who reopens it"},

    {"dream", "--docs", "DIR", &Flags::docs, "folder of documents to search"},
    {"dream", "--family", "NAME", &Flags::family, "only for this family"},

    {"roi", "--price", "USD", &Flags::price, "per accelerator-hour"},
    {"roi", "--html", "FILE", &Flags::html, "write the whole campaign as a page, too"},

    {"init", "--replace", "", &Flags::replace, "write the configuration anew"},

    {"compare", "--pairs", "N", &Flags::pairs, "pairs at most (40)"},
    {"compare", "--claim", "PERCENT", &Flags::claim, "what B is said to save"},
    {"compare", "--metric", "WHAT", &Flags::metric,
     "wall, cpu, memory, a reported name, or a pattern with one group on stdout"},
    {"compare", "--higher", "", &Flags::higher, "of that metric, more is better"},
    {"compare", "--work", "PATTERN", &Flags::work_pattern, "units of work done, on stdout"},
    {"compare", "--concurrent", "", &Flags::concurrent, "both at once, on separate CPUs"},
    {"compare", "--same", "N", &Flags::same, "pairs of A against A first, to know the noise"},
    {"compare", "--noise", "PERCENT", &Flags::noise, "noise of one pair, if you know it"},
    {"compare", "--warm-up", "N", &Flags::warm_up, "runs of each before that, not counted (1)"},
    {"compare", "--confidence", "PERCENT", &Flags::confidence,
     "of the verdict and each bound (95)"},
    {"compare", "--precision", "PERCENT", &Flags::precision, "go on until the interval is +- this"},
    {"compare", "--seed", "TEXT", &Flags::seed, "of the coin; default: drawn"},
    {"compare", "--accelerators", "N", &Flags::accelerators, "each arm is given so many"},
    {"compare", "--resume", "FOLDER", &Flags::resume, "go on with an earlier one, or 'last'"},
    {"compare", "--html", "FILE", &Flags::html, "write a page with pictures, too"},
    {"compare", "--quiet", "", &Flags::quiet, "the verdict alone"},
    {"compare", "--width", "N", &Flags::width, "columns to draw in"},
    {"compare", "--ascii", "", &Flags::ascii, "draw with plain letters"},

    {"sim", "--seed", "N", &Flags::seed, "same number, same figures (1)"},
    {"sim", "--hypotheses", "N", &Flags::hypotheses, "how many, or how many repetitions"},
    {"sim", "--scenario", "NAME", &Flags::scenario, "noise: base, clean, bursty, drift, ..."},
    {"sim", "--policy", "NAME", &Flags::policy, "only this row of the tables that compare them"},
    {"sim", "--canary", "", &Flags::canary, "watch what is promoted in production"},
    {"sim", "--from-ledger", "", &Flags::from_ledger, "with the noise of your own pairs"},
    {"sim", "--threads", "N", &Flags::threads, "at once; default: one for each CPU"},

    {"exec", "--pair", "DIR", &Flags::pair_dir, "the run's folder"},
});

struct AddTo {
  CLI::App& app;
  Flags& flags;
  const Option& option;
  CLI::Option* operator()(bool Flags::*field) const {
    return app.add_flag(std::string(option.name), flags.*field, std::string(option.does));
  }
  // One value each time it is typed: the next word is not swallowed.
  CLI::Option* operator()(std::vector<std::string> Flags::*field) const {
    return app.add_option(std::string(option.name), flags.*field, std::string(option.does))
        ->type_name(std::string(option.value))
        ->allow_extra_args(false);
  }
  template <class T>
  CLI::Option* operator()(T Flags::*field) const {
    return app.add_option(std::string(option.name), flags.*field, std::string(option.does))
        ->type_name(std::string(option.value));
  }
};

Error unknown_verb(const std::string& verb) {
  std::vector<std::string_view> names;
  for (const Verb& v : verbs()) names.push_back(v.name);
  const auto near = did_you_mean(verb, names);
  return bad_input(fmt::format("there is no verb '{}'{}; type: amdahl --help", verb,
                               near ? fmt::format(", did you mean '{}'?", *near) : ""));
}

Error wrong_use(const std::string& verb, const std::string& what,
                const std::vector<std::string>& typed) {
  std::vector<std::string_view> names;
  for (const Option& o : kOptions) {
    if (o.verb.empty() || o.verb == verb) names.push_back(o.name);
  }
  for (const std::string& word : typed) {
    const std::string flag = word.substr(0, word.find('='));
    if (!flag.starts_with("--") || std::ranges::find(names, flag) != names.end()) continue;
    const auto near = did_you_mean(flag, names);
    return bad_input(fmt::format("{}: there is no option {}{}; type: amdahl {} --help", verb, flag,
                                 near ? fmt::format(", did you mean {}?", *near) : "", verb));
  }
  return bad_input(fmt::format("{}: {}; type: amdahl {} --help", verb, what, verb));
}

// What CLI11 says of a value of the wrong type does not say which type is the right one.
std::string wanted_by(const Option& option) {
  if (std::holds_alternative<int Flags::*>(option.field)) return "a whole number";
  if (std::holds_alternative<double Flags::*>(option.field)) return "a number";
  return "a value";
}

std::string wrong_value(const std::string& verb, const std::vector<std::string>& typed) {
  for (std::size_t i = 0; i < typed.size(); ++i) {
    const auto equals = typed[i].find('=');
    const std::string flag = typed[i].substr(0, equals);
    const auto row = std::ranges::find_if(kOptions, [&](const Option& o) {
      return o.name == flag && (o.verb.empty() || o.verb == verb) && !o.value.empty();
    });
    if (row == kOptions.end()) continue;
    const bool has_next = equals != flag.npos || i + 1 < typed.size();
    const std::string value = equals != flag.npos ? typed[i].substr(equals + 1)
                              : has_next          ? typed[i + 1]
                                                  : "";
    const bool whole = std::holds_alternative<int Flags::*>(row->field);
    const bool number = std::holds_alternative<double Flags::*>(row->field);
    if (!has_next || (whole && !to_number<int>(value)) || (number && !to_number<double>(value))) {
      return fmt::format("{} wants {}{}", flag, wanted_by(*row),
                         has_next ? fmt::format(", not '{}'", value) : "");
    }
  }
  return "";
}

// An option whose value was forgotten would take the next one for it.
std::string swallowed_option(const std::string& verb, const std::vector<std::string>& typed) {
  const auto option_named = [&](const std::string& word) {
    return std::ranges::find_if(kOptions, [&](const Option& o) {
      return o.name == word && (o.verb.empty() || o.verb == verb);
    });
  };
  for (std::size_t i = 0; i + 1 < typed.size(); ++i) {
    const auto row = option_named(typed[i]);
    if (row == kOptions.end() || row->value.empty()) continue;
    const std::string next = typed[i + 1].substr(0, typed[i + 1].find('='));
    if (option_named(next) != kOptions.end()) {
      return fmt::format("{} wants a value ({}), not the option {}", row->name, row->value, next);
    }
    ++i;
  }
  return "";
}

// The first word that is neither an option nor the value of one that every verb takes.
std::vector<std::string>::iterator find_word(std::vector<std::string>& words) {
  for (auto it = words.begin(); it != words.end(); ++it) {
    const auto row = std::ranges::find(kOptions, *it, &Option::name);
    const bool takes_value = row != kOptions.end() && row->verb.empty() && !row->value.empty();
    if (takes_value && it + 1 != words.end()) {
      ++it;
    } else if (!it->starts_with('-')) {
      return it;
    }
  }
  return words.end();
}

}  // namespace

std::span<const Option> options() { return kOptions; }

Result<Typed> parse(const std::vector<std::string>& argv) {
  Typed typed;
  const auto divide = std::ranges::find(argv, "--");
  if (divide != argv.end()) typed.flags.command.assign(divide + 1, argv.end());
  std::vector<std::string> before(argv.begin(), divide);
  const auto verb = find_word(before);
  if (verb == before.end()) {
    const bool version = std::ranges::find(before, "--version") != before.end();
    typed.verb = version ? "version" : "help";
    const bool help = before.empty() || std::ranges::find(before, "--help") != before.end() ||
                      std::ranges::find(before, "-h") != before.end();
    if (!version && !help) return bad_input("no verb was typed; type: amdahl --help");
    return typed;
  }
  typed.verb = *verb;
  before.erase(verb);
  if (typed.verb == "help") {
    typed.flags.words = before;
    return typed;
  }
  if (!find_verb(typed.verb)) return unknown_verb(typed.verb);

  if (const std::string swallowed = swallowed_option(typed.verb, before); !swallowed.empty()) {
    return wrong_use(typed.verb, swallowed, {});
  }
  CLI::App app;
  app.set_help_flag();
  std::vector<std::pair<std::string_view, const CLI::Option*>> added;
  for (const Option& option : kOptions) {
    if (!option.verb.empty() && option.verb != typed.verb) continue;
    added.emplace_back(option.name, std::visit(AddTo{app, typed.flags, option}, option.field));
  }
  app.add_option("words", typed.flags.words);
  std::vector<std::string> reversed(before.rbegin(), before.rend());  // As CLI11 wants them.
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& e) {
    const std::string better = wrong_value(typed.verb, before);
    return wrong_use(typed.verb, better.empty() ? e.what() : better, before);
  }
  for (const auto& [name, option] : added) {
    if (option->count() > 0) typed.flags.given.push_back(name);
  }
  return typed;
}

}  // namespace amdahl::cli
