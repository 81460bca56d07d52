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

    {"run", "--family", "NAME", &RunFlags::family, "family of the job (default: from the command)"},
    {"run", "--accelerators", "N", &RunFlags::accelerators, "accelerators it may use"},
    {"run", "--time-limit", "S", &RunFlags::time_limit, "stop it after S seconds"},
    {"run", "--memory-limit", "MB", &RunFlags::memory_limit, "stop it above this much memory"},
    {"run", "--quiet", "", &Flags::quiet, "do not show the job's output"},
    {"run", "--spec", "FILE", &RunFlags::spec, "run the job of this spec"},
    {"run", "--promoted", "", &RunFlags::promoted, "apply the promoted changes of its family"},

    {"tune", "--budget", "LIMIT", &TuneFlags::budget,
     "20m, 1h30m; 2ah (accelerator-hours); $5 (30m)"},
    {"tune", "--family", "NAME", &TuneFlags::family,
     "family of the job (default: from the command)"},
    {"tune", "--accelerators", "N", &TuneFlags::accelerators, "accelerators it may use"},
    {"tune", "--spec", "FILE", &TuneFlags::spec, "tune the job of this spec"},
    {"tune", "--slots", "N", &TuneFlags::slots, "CPU slots to use"},
    {"tune", "--launcher", "NAME", &TuneFlags::launcher, "where pairs run: local, slurm, command"},
    {"tune", "--quiet", "", &Flags::quiet, "print only the result"},

    {"scan", "--source", "NAME=WHERE", &ScanFlags::sources,
     "prometheus=http://host:9090, slurm, csv=FILE, or a PATH; may be repeated"},
    {"scan", "--from", "TIME", &ScanFlags::from, "start of the window: 2026-11-15, -7d (UTC)"},
    {"scan", "--to", "TIME", &ScanFlags::to, "end of the window (default for live sources: now)"},
    {"scan", "--window", "LENGTH", &ScanFlags::window, "length of the window: 7d, 36h"},
    {"scan", "--by", "WHAT", &ScanFlags::by,
     "rows: family, job, user, account, partition, node, state or kind"},
    {"scan", "--top", "N", &ScanFlags::top, "rows at most (20); 0: all"},
    {"scan", "--order", "BY", &ScanFlags::order, "recoverable, wasted, allocated, lost or queue"},
    {"scan", "--trend", "EVERY", &ScanFlags::trend,
     "waste by day, week, 12h: of the fleet and families"},
    {"scan", "--metric", "NAME", &ScanFlags::metric, "only this metric of a server"},
    {"scan", "--idle", "SHARE", &ScanFlags::idle, "idle threshold (0-1); 0 always counts as idle"},
    {"scan", "--fields", "LIST", &ScanFlags::fields,
     "columns of sacct output without a header, as in sacct -o"},
    {"scan", "--map", "FILE", &ScanFlags::map, "TOML file that maps the columns of a table"},
    {"scan", "--time-zone", "ZONE", &ScanFlags::time_zone,
     "time zone of times without one (default: detected)"},
    {"scan", "--host", "NAME", &ScanFlags::host, "host of a file that does not name it"},
    {"scan", "--price", "USD", &ScanFlags::price, "per accelerator-hour"},
    {"scan", "--step", "LENGTH", &ScanFlags::step,
     "step of server queries (default: scrape interval)"},
    {"scan", "--token-env", "NAME", &ScanFlags::token_env,
     "environment variable with the bearer token"},
    {"scan", "--token-file", "FILE", &ScanFlags::token_file, "file with the bearer token"},
    {"scan", "--user", "NAME", &ScanFlags::user, "user name for basic authentication"},
    {"scan", "--password-env", "NAME", &ScanFlags::password_env,
     "environment variable with the password"},
    {"scan", "--password-file", "FILE", &ScanFlags::password_file, "file with the password"},
    {"scan", "--header", "TEXT", &ScanFlags::headers,
     "'Name: value' for a server, or 'Name: $VARIABLE'"},
    {"scan", "--explain-input", "", &ScanFlags::explain_input,
     "how each input was read, joined and what was dropped"},
    {"scan", "--csv", "", &ScanFlags::csv, "the rows as CSV, in hours"},
    {"scan", "--html", "FILE", &Flags::html, "also write an HTML page with charts"},
    {"scan", "--job", "ID", &ScanFlags::job, "draw the anatomy of this job instead"},
    {"scan", "--of", "NAME", &ScanFlags::of, "only this user, or account with --by account"},
    {"scan", "--policy", "RULE", &ScanFlags::policy,
     "replay a rule on the jobs: idle-timeout=60m; hours recovered, wrong hits"},
    {"scan", "--chargeback", "", &ScanFlags::chargeback,
     "bills by user, account and partition as CSV, in hours and USD"},
    {"scan", "--mail", "DIR", &ScanFlags::mail, "write a text for each user about their own waste"},
    {"scan", "--alerts", "FILE", &ScanFlags::alerts, "write Prometheus alert rules"},
    {"scan", "--keep", "", &ScanFlags::keep, "keep the sums of this scan for --trend months"},
    {"scan", "--fresh", "", &ScanFlags::fresh,
     "read everything again; ignore what an earlier scan kept"},
    {"scan", "--threads", "N", &ScanFlags::threads,
     "reader threads (default: one per CPU, at most 8)"},
    {"scan", "--progress", "", &Flags::progress, "show progress even if stderr is not a terminal"},
    {"scan", "--width", "N", &Flags::width, "width in columns"},
    {"scan", "--ascii", "", &Flags::ascii, "draw with ASCII characters"},

    {"anatomy", "--width", "N", &Flags::width, "width in columns"},
    {"anatomy", "--ascii", "", &Flags::ascii, "draw with ASCII characters"},

    {"adopt", "--family", "NAME", &AdoptFlags::family, "name of the family"},
    {"adopt", "--output", "FILE", &AdoptFlags::output, "where to write the spec"},
    {"adopt", "--spec", "FILE", &AdoptFlags::spec, "adopt this spec instead of a job"},
    {"adopt", "--replace", "", &AdoptFlags::replace, "replace the current spec of the family"},

    {"profile", "--show", "", &ProfileFlags::show, "show the latest result without running"},
    {"profile", "--what-if", "LIST", &ProfileFlags::what_if,
     "replay traces with causes changed: input=0,logging=0.5,kernel:gemm=0.8"},
    {"profile", "--measure", "LIST", &ProfileFlags::measure,
     "measure the command without these causes: input,logging,checkpoint"},
    {"profile", "--diff", "BEFORE", &ProfileFlags::diff,
     "show the differences from these traces (a file or a folder, repeatable)"},
    {"profile", "--keep", "NAME", &ProfileFlags::keep,
     "keep the result of these traces under this name, for amdahl serve"},
    {"profile", "--fail-if", "LIMIT", &ProfileFlags::fail_if,
     "exit 1 on 'regression>3%' of --diff, unless it may be noise"},
    {"profile", "--html", "FILE", &Flags::html, "also write an HTML page with the timeline"},
    {"profile", "--hta", "", &ProfileFlags::hta, "add the figures of Holistic Trace Analysis"},
    {"profile", "--nsys", "", &ProfileFlags::nsys, "run the command inside Nsight Systems"},
    {"profile", "--ncu", "", &ProfileFlags::ncu, "run the command inside Nsight Compute"},
    {"profile", "--syscalls", "", &ProfileFlags::syscalls, "also count system calls"},
    {"profile", "--family", "NAME", &ProfileFlags::family, "family of the command"},
    {"profile", "--accelerators", "N", &ProfileFlags::accelerators,
     "accelerators the command may use"},
    {"profile", "--quiet", "", &Flags::quiet, "do not show the command's output"},
    {"profile", "--format", "NAME", &ProfileFlags::format,
     "format of the files (default: detected)"},

    {"propose", "--env", "NAME=VALUE", &ProposeFlags::env, "set a variable; NAME alone unsets it"},
    {"propose", "--arg", "FLAG=VALUE", &ProposeFlags::args,
     "set a flag; FLAG alone is a bare flag"},
    {"propose", "--set", "FILE#KEY=VALUE", &ProposeFlags::sets,
     "set a key of a JSON, TOML or YAML file that its command names"},
    {"propose", "--accelerators", "N", &ProposeFlags::accelerators, "accelerators for the job"},
    {"propose", "--inject", "FIX=VALUE", &ProposeFlags::inject,
     "put a fix of playbook/inject/ into its Python processes; FIX alone if it takes no value"},
    {"propose", "--patch", "FILE", &ProposeFlags::patch, "a unified diff against the spec's repo"},
    {"propose", "--title", "TEXT", &ProposeFlags::title, "title of the idea"},
    {"propose", "--gain", "PERCENT", &ProposeFlags::gain, "expected saving"},
    {"propose", "--cause", "NAME", &ProposeFlags::cause,
     "the cause of the latest profile it acts on"},
    {"propose", "--as", "NAME", &ProposeFlags::as, "who proposes it"},

    {"brief", "--role", "NAME", &BriefFlags::role, "propose, attack or dream"},

    {"cycle", "--watch", "", &CycleFlags::watch, "continue until nothing is left to do"},
    {"cycle", "--until", "WHEN", &CycleFlags::until, "settled, first-win or never"},
    {"cycle", "--slots", "N", &CycleFlags::slots, "CPU slots to use"},
    {"cycle", "--launcher", "NAME", &CycleFlags::launcher,
     "where pairs run: local, slurm, command"},
    {"cycle", "--gate-policy", "NAME", &CycleFlags::gate_policy, "let a policy decide at the gate"},
    {"cycle", "--refresh", "", &CycleFlags::refresh, "profile every family again"},
    {"cycle", "--quiet", "", &Flags::quiet, "print only the summary"},

    {"work", "--idle", "SECONDS", &WorkFlags::idle, "exit after this long without work"},
    {"work", "--launcher", "NAME", &WorkFlags::launcher, "as the cycle's"},
    {"work", "--quiet", "", &Flags::quiet, "print only the summary"},

    {"launcher", "--patience", "SECONDS", &LauncherFlags::patience,
     "how long a very short job may take from its release to its end"},

    {"serve", "--listen", "ADDRESS:PORT", &ServeFlags::listen, "where to listen (127.0.0.1:8300)"},
    {"serve", "--allow-host", "NAME", &ServeFlags::allow_hosts,
     "a host name under which clients reach the server; may be repeated"},
    {"serve", "--tls-cert", "FILE", &ServeFlags::tls_cert, "certificate chain (PEM)"},
    {"serve", "--tls-key", "FILE", &ServeFlags::tls_key, "private key (PEM)"},
    {"serve", "--agents", "LIMIT", &ServeFlags::agents,
     "serve agents at /mcp: 1h, 2ah (accelerator-hours) or $5 for all of them"},
    {"serve", "--link", "", &ServeFlags::link, "print a link that logs you in"},
    {"serve", "--role", "ROLE", &ServeFlags::role, "reader, proposer or approver (reader)"},
    {"serve", "--days", "N", &ServeFlags::days, "days until the token expires (never)"},

    {"gate", "--reason", "TEXT", &GateFlags::reason, "why"},
    {"gate", "--as", "NAME", &GateFlags::as, "who decides; default: your login"},

    {"canary", "--reason", "TEXT", &CanaryFlags::reason, "why the change is kept"},
    {"canary", "--as", "NAME", &CanaryFlags::as, "who keeps it; default: your login"},

    {"stack", "--pairs", "N", &StackFlags::pairs, "pairs to measure"},
    {"stack", "--show", "", &StackFlags::show, "show the latest result without running"},

    {"ledger", "--hypothesis-state", "STATE", &LedgerFlags::hypothesis_state,
     "only hypotheses in this state: live, parked, refuted, ..."},
    {"ledger", "--family", "NAME", &LedgerFlags::family, "only this family's"},
    {"ledger", "--limit", "N", &LedgerFlags::limit, "maximum number of rows"},
    {"ledger", "--before", "N", &LedgerFlags::before, "list: only those older than number N"},
    {"ledger", "--output", "FILE", &LedgerFlags::output, "where to export to"},
    {"ledger", "--reason", "TEXT", &LedgerFlags::reason, "why it is reopened"},
    {"ledger", "--as", "NAME", &LedgerFlags::as, "who reopens it"},

    {"mcp", "--budget", "LIMIT", &McpFlags::budget,
     "what this session may spend: 1h (default), 2ah or $5"},
    {"mcp", "--family", "NAME", &McpFlags::family, "name of the family of the command after --"},
    {"mcp", "--accelerators", "N", &McpFlags::accelerators, "accelerators that it may use"},

    {"dream", "--docs", "DIR", &DreamFlags::docs, "folder of documents to search"},
    {"dream", "--family", "NAME", &DreamFlags::family, "only for this family"},

    {"roi", "--price", "USD", &RoiFlags::price, "per accelerator-hour"},
    {"roi", "--csv", "FILE", &RoiFlags::csv, "also write months and families as a table"},
    {"roi", "--html", "FILE", &Flags::html, "also write the campaign as an HTML page"},

    {"clean", "--older", "DAYS", &CleanFlags::older, "remove folders not used for this many days"},
    {"clean", "--keep", "GB", &CleanFlags::keep, "then remove the oldest until this is left"},
    {"clean", "--dry-run", "", &CleanFlags::dry_run, "only say what would be removed"},

    {"init", "--replace", "", &InitFlags::replace, "overwrite the configuration"},

    {"compare", "--pairs", "N", &CompareFlags::pairs, "pairs at most (40)"},
    {"compare", "--claim", "PERCENT", &CompareFlags::claim, "saving that is claimed for B"},
    {"compare", "--metric", "WHAT", &CompareFlags::metric,
     "wall, cpu, memory, a reported name, or a pattern with one group on stdout"},
    {"compare", "--higher", "", &CompareFlags::higher, "higher is better for this metric"},
    {"compare", "--work", "PATTERN", &CompareFlags::work_pattern,
     "pattern of units of work on stdout"},
    {"compare", "--concurrent", "", &CompareFlags::concurrent,
     "run both at the same time, on separate CPUs"},
    {"compare", "--same", "N", &CompareFlags::same, "A/A pairs first, to measure the noise"},
    {"compare", "--noise", "PERCENT", &CompareFlags::noise, "noise of one pair, if you know it"},
    {"compare", "--warm-up", "N", &CompareFlags::warm_up,
     "warm-up runs of each arm, not counted (1)"},
    {"compare", "--confidence", "PERCENT", &CompareFlags::confidence,
     "confidence of the verdict and of each bound (95)"},
    {"compare", "--precision", "PERCENT", &CompareFlags::precision,
     "continue until the interval is +- this"},
    {"compare", "--seed", "TEXT", &CompareFlags::seed, "seed of the run order (default: random)"},
    {"compare", "--accelerators", "N", &CompareFlags::accelerators, "accelerators of each arm"},
    {"compare", "--resume", "FOLDER", &CompareFlags::resume,
     "resume an earlier comparison, or 'last'"},
    {"compare", "--html", "FILE", &Flags::html, "also write an HTML page with charts"},
    {"compare", "--quiet", "", &Flags::quiet, "print only the verdict"},
    {"compare", "--width", "N", &Flags::width, "width in columns"},
    {"compare", "--ascii", "", &Flags::ascii, "draw with ASCII characters"},

    {"sim", "--seed", "N", &SimFlags::seed, "random seed (1)"},
    {"sim", "--hypotheses", "N", &SimFlags::hypotheses, "how many, or how many repetitions"},
    {"sim", "--scenario", "NAME", &SimFlags::scenario, "noise: base, clean, bursty, drift, ..."},
    {"sim", "--policy", "NAME", &SimFlags::policy, "only this row of the tables that compare them"},
    {"sim", "--canary", "", &SimFlags::canary, "watch what is promoted in production"},
    {"sim", "--from-ledger", "", &SimFlags::from_ledger, "with the noise of your own pairs"},
    {"sim", "--threads", "N", &SimFlags::threads, "threads (default: one per CPU)"},

    {"exec", "--pair", "DIR", &ExecFlags::pair_dir, "the run's folder"},
    {"exec", "--node", "DIR", &ExecFlags::node_dir, "folder for what an observer sees of a node"},
    {"exec", "--ask", "DIR", &ExecFlags::ask_dir, "the folder of a question to a model"},
    {"exec", "--webhook", "DIR", &ExecFlags::webhook_dir, "state folder with messages to send"},
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
  names.emplace_back("help");
  const auto near = did_you_mean(verb, names);
  return bad_input(fmt::format("unknown command '{}'{}; type: amdahl --help", verb,
                               near ? fmt::format(", did you mean '{}'?", *near) : ""));
}

Error no_verb(const std::vector<std::string>& typed) {
  std::vector<std::string_view> names{"--version", "--help"};
  for (const Option& o : kOptions) {
    if (o.verb.empty()) names.push_back(o.name);
  }
  for (const std::string& word : typed) {
    if (!word.starts_with("--") || std::ranges::find(names, word) != names.end()) continue;
    const auto near = did_you_mean(word, names);
    return bad_input(fmt::format("unknown option {}{}; type: amdahl --help", word,
                                 near ? fmt::format(", did you mean {}?", *near) : ""));
  }
  return bad_input("no command was given; type: amdahl --help");
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
    return bad_input(fmt::format("{}: unknown option {}{}; type: amdahl {} --help", verb, flag,
                                 near ? fmt::format(", did you mean {}?", *near) : "", verb));
  }
  return bad_input(fmt::format("{}: {}; type: amdahl {} --help", verb, what, verb));
}

// CLI11's message for a value of the wrong type does not name the right type.
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
      return fmt::format("{} needs {}{}", flag, wanted_by(*row),
                         has_next ? fmt::format(", not '{}'", value) : "");
    }
  }
  return "";
}

// An option without its value would swallow the next option.
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
      return fmt::format("{} needs a value ({}), not the option {}", row->name, row->value, next);
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
  if (divide != argv.end()) typed.flags->command.assign(divide + 1, argv.end());
  std::vector<std::string> before(argv.begin(), divide);
  const auto verb = find_word(before);
  if (verb == before.end()) {
    const bool version = std::ranges::find(before, "--version") != before.end();
    typed.verb = version ? "version" : "help";
    const bool help = before.empty() || std::ranges::find(before, "--help") != before.end() ||
                      std::ranges::find(before, "-h") != before.end();
    if (!version && !help) return no_verb(before);
    return typed;
  }
  typed.verb = *verb;
  before.erase(verb);
  if (typed.verb == "help") {
    typed.flags->words = before;
    return typed;
  }
  const Verb* row = find_verb(typed.verb);
  if (row == nullptr) return unknown_verb(typed.verb);
  std::vector<std::string> command = std::move(typed.flags->command);
  typed.flags = row->make_flags();
  typed.flags->command = std::move(command);

  if (const std::string swallowed = swallowed_option(typed.verb, before); !swallowed.empty()) {
    return wrong_use(typed.verb, swallowed, {});
  }
  CLI::App app;
  app.set_help_flag();
  std::vector<std::pair<std::string_view, const CLI::Option*>> added;
  for (const Option& option : kOptions) {
    if (!option.verb.empty() && option.verb != typed.verb) continue;
    added.emplace_back(option.name, std::visit(AddTo{app, *typed.flags, option}, option.field));
  }
  app.add_option("words", typed.flags->words);
  std::vector<std::string> reversed(before.rbegin(), before.rend());  // As CLI11 wants them.
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& e) {
    const std::string better = wrong_value(typed.verb, before);
    return wrong_use(typed.verb, better.empty() ? e.what() : better, before);
  }
  for (const auto& [name, option] : added) {
    if (option->count() > 0) typed.flags->given.push_back(name);
  }
  return typed;
}

}  // namespace amdahl::cli
