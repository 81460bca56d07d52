#include "cli/cli.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <memory>

#include <fmt/core.h>

#include "base/embedded.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/show.h"
#include "cli/verbs.h"

namespace amdahl {
std::span<const Embedded> embedded_reference();
}

namespace amdahl::cli {
namespace {

template <class VerbFlags>
std::unique_ptr<Flags> make_flags() {
  return std::make_unique<VerbFlags>();
}

template <class VerbFlags>
constexpr auto made_for(Result<int> (*)(const VerbFlags&)) {
  return &make_flags<VerbFlags>;
}

template <auto Do, class VerbFlags>
Result<int> run_with(const Flags& flags, Result<int> (*)(const VerbFlags&)) {
  return Do(static_cast<const VerbFlags&>(flags));
}

// A row whose flags have the type that its function takes.
template <auto Do>
constexpr Verb verb(std::string_view name, std::string_view summary, int most_words,
                    bool hidden = false) {
  return {name,       summary,      hidden,
          most_words, made_for(Do), [](const Flags& flags) { return run_with<Do>(flags, Do); }};
}

constexpr auto kVerbs = std::to_array<Verb>({
    verb<do_tune>("tune", "find, verify and hand over changes that make a command cheaper", -1),
    verb<do_run>("run", "run a command, observe its accelerators, keep a receipt", -1),
    verb<do_scan>("scan", "rank families by wasted accelerator time", -1),
    verb<do_anatomy>("anatomy", "draw one job's timeline and the possible gain of each part", 1),
    verb<do_adopt>("adopt", "create a spec for a family, so that changes can be tested", 1),
    verb<do_profile>("profile", "find out why accelerators wait: family, command or traces", -1),
    verb<do_propose>("propose", "propose a change to test", 1),
    verb<do_brief>("brief", "print what a model or a person should know before proposing", 1),
    verb<do_cycle>("cycle", "run one cycle of the loop; --watch: repeat until idle", 0),
    verb<do_work>("work", "help a cycle: collect runs, read profiles, ask models", 0),
    verb<do_status>("status", "show the state of the loop", 0),
    verb<do_gate>("gate", "show and decide wins that wait for approval", 2),
    verb<do_canary>("canary", "show promoted changes under watch in production", 2),
    verb<do_stack>("stack", "measure all promoted changes of a family together", -1),
    verb<do_ledger>("ledger", "list, show, search, verify, export, copy, reopen", -1),
    verb<do_dream>("dream", "search wins and documents for new hypotheses", 0),
    verb<do_roi>("roi", "hours and money spent and saved", 0),
    verb<do_serve>("serve", "dashboard, API and metrics over HTTP; tokens for its users", 3),
    verb<do_compare>("compare", "is B cheaper than A? a paired test of two commands", -1),
    verb<do_mcp>("mcp", "serve an agent over MCP on stdin and stdout", 0),
    verb<do_sim>("sim", "run the loop on a simulated fleet with known effects", -1),
    verb<do_doctor>("doctor", "what works here, what is missing, how to fix it", 0),
    verb<do_launcher>("launcher", "check a plug-in that runs pairs on another scheduler", 2),
    verb<do_clean>("clean", "remove old run folders, trees and job folders", 0),
    verb<do_init>("init", "create the state folder and a configuration", 0),
    verb<do_config>("config", "show every setting, its value and its source", 1),
    verb<do_completion>("completion", "completion for bash, zsh or fish", 1),
    verb<do_version>("version", "version, revision and ledger schema", 0),
    verb<do_exec>("exec", "internal: run one pair; started by launchers", 0, true),
});

int exit_code(Error::Kind kind) {
  switch (kind) {
    case Error::Kind::kBadInput:
      return 2;
    case Error::Kind::kNotFound:
    case Error::Kind::kConflict:
      return 1;
    case Error::Kind::kUnsupported:
    case Error::Kind::kExternal:
      return 3;
    case Error::Kind::kBudget:
      return 4;
    case Error::Kind::kBusy:
      return 5;
  }
  return 3;
}

int print_help(const std::vector<std::string>& words) {
  if (!words.empty()) {
    const std::string_view page = reference_page(words.front());
    if (!page.empty()) {
      print(std::string(page));
      return 0;
    }
    std::vector<std::string_view> names;
    for (const Verb& verb : kVerbs) names.push_back(verb.name);
    const auto near = did_you_mean(words.front(), names);
    fmt::print(stderr, "amdahl: there is no help on '{}'{}; type: amdahl --help\n", words.front(),
               near ? fmt::format(", did you mean '{}'?", *near) : "");
    return 2;
  }
  std::string text =
      "amdahl finds wasted accelerator time, tests fixes in paired runs and records every "
      "verdict.\n\n";
  for (const Verb& verb : kVerbs) {
    if (!verb.hidden) text += fmt::format("  {:<11} {}\n", verb.name, verb.summary);
  }
  text +=
      "\nEvery verb takes --state DIR, --config FILE, --json, --no-color and --help.\n"
      "Start here:\n"
      "  amdahl compare -- ./before.sh ::: ./after.sh\n  amdahl tune -- python3 train.py\n"
      "  amdahl run --family eval -- python3 evaluate.py\n"
      "  amdahl scan\n"
      "  amdahl anatomy last\n";
  print(text);
  return 0;
}

int fail(const Error& error) {
  tell("amdahl: " + error.text);
  return exit_code(error.kind);
}

// An extra word is a typo (missing dashes, for example) and must be reported.
Result<> check_words(const Verb& verb, const Flags& flags) {
  const auto most = static_cast<std::size_t>(std::max(0, verb.most_words));
  if (verb.most_words < 0 || flags.words.size() <= most) return Ok{};
  return bad_input(fmt::format("{}: unexpected argument '{}'; type: amdahl {} --help", verb.name,
                               flags.words[most], verb.name));
}

int dispatch(const std::vector<std::string>& argv) {
  const auto typed = parse(argv);
  if (!typed) return fail(typed.error());
  if (typed->verb == "help") return print_help(typed->flags->words);
  if (typed->flags->help) return print_help({typed->verb});
  const Verb& verb = *find_verb(typed->verb);
  if (const auto checked = check_words(verb, *typed->flags); !checked) return fail(checked.error());
  if (const auto checked = check_outputs(verb.name, *typed->flags); !checked)
    return fail(checked.error());
  const auto code = verb.run(*typed->flags);
  return code ? *code : fail(code.error());
}

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

const Verb* find_verb(std::string_view name) {
  const auto row = std::ranges::find(kVerbs, name, &Verb::name);
  return row == kVerbs.end() ? nullptr : &*row;
}

std::string_view reference_page(std::string_view verb) {
  for (const Embedded& page : embedded_reference()) {
    if (page.path == std::string(verb) + ".md") return page.bytes;
  }
  return {};
}

int run(const std::vector<std::string>& argv) {
  try {
    const int code = dispatch(argv);
    const auto printed = check_printed();
    if (!printed && code == 0) return fail(printed.error());
    return code;
  } catch (const std::exception& e) {
    fmt::print(stderr, "amdahl: this is a bug: {}\n", e.what());
    return 3;
  }
}

}  // namespace amdahl::cli
