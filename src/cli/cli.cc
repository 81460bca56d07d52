#include "cli/cli.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>

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

constexpr auto kVerbs = std::to_array<Verb>({
    {"tune", "find, prove and hand over what makes a command cheaper", false, -1, do_tune},
    {"run", "run a command, watch its accelerators, keep a receipt", false, -1, do_run},
    {"scan", "rank families by wasted accelerator time", false, -1, do_scan},
    {"anatomy", "draw one job's timeline and what each part could gain", false, 1, do_anatomy},
    {"adopt", "give a family a spec, so that it can be experimented on", false, 1, do_adopt},
    {"profile", "why accelerators wait: of a family, or from traces", false, -1, do_profile},
    {"propose", "put an idea of your own to the test", false, 1, do_propose},
    {"cycle", "one turn of the loop; --watch goes on until all is settled", false, 0, do_cycle},
    {"status", "where the loop stands", false, 0, do_status},
    {"gate", "see and decide what waits for a person", false, 2, do_gate},
    {"canary", "promoted changes watched in production, some runs without them", false, 2,
     do_canary},
    {"stack", "re-measure a family's promoted changes together", false, -1, do_stack},
    {"ledger", "list, show, search, verify, export, reopen", false, -1, do_ledger},
    {"dream", "search wins and documents for fresh hypotheses", false, 0, do_dream},
    {"roi", "hours and money spent and saved", false, 0, do_roi},
    {"compare", "is B cheaper than A? a paired test of two commands", false, -1, do_compare},
    {"sim", "try the loop on a fleet whose truth is known", false, -1, do_sim},
    {"doctor", "what works here, what is missing, how to fix it", false, 0, do_doctor},
    {"init", "make the state folder and a configuration", false, 0, do_init},
    {"config", "every setting, its value and who set it", false, 1, do_config},
    {"completion", "completion for bash, zsh or fish", false, 1, do_completion},
    {"version", "version, revision and ledger schema", false, 0, do_version},
    {"exec", "the supervisor of one pair; started by launchers", true, 0, do_exec},
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
      "amdahl finds wasted accelerator time, proves fixes and banks the savings.\n\n";
  for (const Verb& verb : kVerbs) {
    if (!verb.hidden) text += fmt::format("  {:<11} {}\n", verb.name, verb.summary);
  }
  text +=
      "\nEvery verb takes --state DIR, --config FILE, --json, --no-color and --help.\n"
      "Start here:\n"
      "  amdahl tune -- python3 train.py\n"
      "  amdahl run --family eval -- python3 evaluate.py\n"
      "  amdahl scan\n"
      "  amdahl anatomy last\n";
  print(text);
  return 0;
}

int fail(const Error& error) {
  fmt::print(stderr, "amdahl: {}\n", error.text);
  return exit_code(error.kind);
}

// A word too many is a slip (of a flag's dashes, say) that must not pass in silence.
Result<> check_words(const Verb& verb, const Flags& flags) {
  const auto most = static_cast<std::size_t>(std::max(0, verb.most_words));
  if (verb.most_words < 0 || flags.words.size() <= most) return Ok{};
  return bad_input(fmt::format("{} has no use for the word '{}'; type: amdahl {} --help", verb.name,
                               flags.words[most], verb.name));
}

int dispatch(const std::vector<std::string>& argv) {
  const auto typed = parse(argv);
  if (!typed) return fail(typed.error());
  if (typed->verb == "help") return print_help(typed->flags.words);
  if (typed->flags.help) return print_help({typed->verb});
  const Verb& verb = *find_verb(typed->verb);
  if (const auto checked = check_words(verb, typed->flags); !checked) return fail(checked.error());
  if (const auto checked = check_outputs(typed->flags); !checked) return fail(checked.error());
  const auto code = verb.run(typed->flags);
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
