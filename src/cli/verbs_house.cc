#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/config.h"
#include "app/context.h"
#include "app/doctor.h"
#include "app/try_pair.h"
#include "base/text.h"
#include "cli/completion.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "launch/launcher.h"
#include "model/codec.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::cli {
namespace {

std::string_view headline(model::Answer answer) {
  switch (answer) {
    case model::Answer::kBetter:
      return "B is cheaper than A.";
    case model::Answer::kWorse:
      return "B is dearer than A.";
    case model::Answer::kSame:
      return "B saves nothing that matters.";
    case model::Answer::kCannotTell:
      return "Cannot tell yet.";
  }
  return "";
}

// What a person needs: the verdict in words, and what would settle it if it cannot tell.
std::string verdict_text(const Flags& flags, const app::TryOutcome& outcome) {
  const model::Comparison& c = outcome.comparison;
  if (c.pairs == 0) return fmt::format("\nNo pair was completed. Receipts: {}\n", outcome.folder);
  std::string text = fmt::format("\n{} It {}\n", bold(flags, headline(c.answer)), c.because);
  text += fmt::format("B against A saves {}\n", describe(c));
  text += fmt::format(
      "Pairs: {} counted, {} void. Noise of one pair: {} assumed. "
      "Smallest effect that matters: {}.\n",
      c.pairs, c.voided, show_percent(outcome.design.sigma),
      show_percent(1 - std::exp(-outcome.design.delta)));
  if (outcome.outputs_differ) text += red(flags, "The outputs of A and B differ.") + "\n";
  if (c.answer == model::Answer::kCannotTell) {
    text += outcome.interrupted
                ? "Interrupted before it was settled; run it again with more time.\n"
                : fmt::format(
                      "To settle it: more pairs (--pairs {}), a quieter machine, or longer "
                      "commands.\n",
                      2 * outcome.design.cap);
  }
  return text + fmt::format("Receipts: {}\n", outcome.folder);
}

}  // namespace

Result<int> do_compare(const Flags& flags) {
  const std::vector<std::string>& words = flags.command.empty() ? flags.words : flags.command;
  app::TryOptions options = TRY(app::parse_try(words));
  if (flags.pairs > 0) options.pairs = flags.pairs;
  if (flags.accelerators > 0) options.a.accelerators = options.b.accelerators = flags.accelerators;
  if (!(flags.noise > 0)) return bad_input("--noise must be above 0");
  options.claim = flags.claim / 100;
  options.sigma = flags.noise / 100;
  options.stopped = interrupted;
  catch_interrupts();
  ProgressLine line(flags);
  options.progress = [&](const model::PairFact& pair, const model::Comparison& c) {
    if (flags.json) return;
    if (pair.voided)
      return line.say(fmt::format("pair {:>2}  void: {}", pair.index, pair.void_reason));
    line.say(fmt::format(
        "pair {:>2}  A {:>8}  B {:>8}  {} first   so far {}, E = {:.1f}", pair.index,
        show_duration(from_seconds(pair.a.wall_s)), show_duration(from_seconds(pair.b.wall_s)),
        pair.variant_second ? "A" : "B", describe(c), std::exp(std::min(c.log_e_win, 50.0))));
  };
  if (!flags.json) {
    fmt::print(stderr, "A: {}\nB: {}\n", shell_quote(options.a.command),
               shell_quote(options.b.command));
    line.show("warming up: each arm once");
  }
  const app::Config config = TRY(config_for(flags));
  const app::TryOutcome outcome = TRY(app::try_pairs(config, options));
  if (flags.json) {
    print_json({{"schema_version", 1},
                {"comparison", encode(outcome.comparison)},
                {"outputs_differ", outcome.outputs_differ},
                {"interrupted", outcome.interrupted},
                {"folder", outcome.folder}});
  } else {
    print(verdict_text(flags, outcome));
  }
  if (outcome.interrupted) return 130;
  return outcome.comparison.answer == model::Answer::kBetter ? 0 : 1;
}

Result<int> do_doctor(const Flags& flags) {
  const std::vector<app::Symptom> symptoms = app::examine(TRY(config_for(flags)));
  bool well = true;
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const app::Symptom& s : symptoms) {
    well &= s.state != "missing";
    list.push_back({{"name", s.name}, {"state", s.state}, {"detail", s.detail}, {"fix", s.fix}});
    rows.push_back({s.state, s.name, s.detail, s.state == "ok" ? "" : s.fix});
  }
  if (flags.json) {
    print_json({{"schema_version", 1}, {"ok", well}, {"symptoms", list}});
  } else {
    print(table({"state", "what", "detail", "to fix it, type"}, rows));
  }
  return well ? 0 : 1;
}

Result<int> do_init(const Flags& flags) {
  app::Config config = TRY(config_for(flags));
  const app::Context context = TRY(app::open_context(config, true));
  const std::string file = config.state_dir + "/config.toml";
  if (!os::exists(file) || flags.replace) {
    TRY(os::write_file(file, app::config_template(config.state_dir)));
  }
  if (flags.json) {
    print_json({{"schema_version", 1}, {"state_dir", config.state_dir}, {"config", file}});
    return 0;
  }
  print(
      fmt::format("The ledger is {}/ledger.db, the configuration {}.\n"
                  "Use them with: export AMDAHL_STATE={} AMDAHL_CONFIG={}\n"
                  "Next: amdahl run --family NAME -- CMD, then amdahl scan\n",
                  config.state_dir, file, config.state_dir, file));
  return 0;
}

Result<int> do_completion(const Flags& flags) {
  const std::string shell = flags.words.empty() ? "bash" : flags.words.front();
  print(TRY(completion_for(shell)));
  return 0;
}

Result<int> do_version(const Flags& flags) {
  if (flags.json) {
    print_json({{"schema_version", 1},
                {"version", AMDAHL_VERSION},
                {"revision", AMDAHL_REVISION},
                {"ledger_schema", ledger::schema_version()}});
  } else {
    print(fmt::format("amdahl {} ({}), ledger schema {}\n", AMDAHL_VERSION, AMDAHL_REVISION,
                      ledger::schema_version()));
  }
  return 0;
}

Result<int> do_exec(const Flags& flags) {
  if (flags.pair_dir.empty()) return bad_input("exec wants --pair DIR");
  TRY(launch::run_pair(flags.pair_dir));
  return 0;
}

}  // namespace amdahl::cli
