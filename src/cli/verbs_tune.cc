#include <fmt/format.h>

#include "api/tune.h"
#include "app/tune.h"
#include "base/count.h"
#include "base/text.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace amdahl::cli {
namespace {

constexpr std::size_t kTriedRows = 20;
constexpr std::size_t kReasonWidth = 90;

std::string saving_of(const model::Comparison& c) {
  return fmt::format("{} ({} to {}, 95 %, {})", saving(c.effect), saving(c.lower), saving(c.upper),
                     counted(c.pairs, "pair"));
}

std::string tune_headline(const app::TuneOutcome& o) {
  if (o.won.empty()) {
    std::string text = fmt::format("No change won for {}", o.family);
    const bool early = o.cycle.stopped_because == "interrupted";
    if (early || o.untested > 0) text += " so far";
    return text + (o.ceiling.empty() ? "" : "; " + o.ceiling) + ".\n";
  }
  if (!o.stack && o.won.size() == 1) {
    return fmt::format("{} saves {} of its accelerator time, by one change.\n", o.family,
                       saving_of(o.won.front().comparison));
  }
  if (!o.stack) {
    return fmt::format(
        "{} proven for {}; they have not been measured together yet: run the "
        "same command again, or type: amdahl stack {}\n",
        counted(static_cast<std::int64_t>(o.won.size()), "change is", "changes are"), o.family,
        o.family);
  }
  return fmt::format(
      "{} saves {} of its accelerator time: {} s become {} s per unit of work ({}).\n", o.family,
      saving_of(o.stack->comparison), show_number(o.stack->original_cost),
      show_number(o.stack->stack_cost), o.stack->work_unit);
}

std::string show_won(const app::TuneOutcome& o) {
  std::vector<std::vector<std::string>> rows;
  std::string commit;
  for (const app::TunedChange& change : o.won) {
    rows.push_back({change.hypothesis.title, describe(change.hypothesis.change),
                    saving_of(change.comparison)});
    for (const std::string& line : change.commit) commit += fmt::format("  {}\n", line);
    if (!change.patch_test.empty()) {
      commit += fmt::format(
          "  {}: {}\n", change.patch.empty() ? "The edit was tried" : "As a patch, commit.patch",
          change.patch_test);
    }
  }
  std::string text = "\nWhat won, each by itself\n" + table({"change", "how", "saves"}, rows);
  if (o.first_win) {
    text += fmt::format("The first was promoted after {}.\n", show_duration(*o.first_win));
  }
  text += fmt::format(
      "Each passed all checks and was promoted by the policy `tune`. To undo one, type: amdahl "
      "gate rollback {} --reason TEXT\n",
      o.won.front().hypothesis.id);
  if (!commit.empty()) text += "\nWhat to write into the job in place of an injection\n" + commit;
  text += fmt::format("\nWhat to commit: {}\n", o.folder);
  for (const std::string& file : o.files) text += fmt::format("  {}\n", file);
  return text +
         fmt::format("\nThe job in its tuned form\n  {}\n  {}/run.sh\n", o.command, o.folder);
}

std::string show_open(const app::TuneOutcome& o) {
  if (o.untested == 0) return "";
  return fmt::format("\n{} still to be decided{}: run the same command again to resume.\n",
                     counted(o.untested, "idea is", "ideas are"),
                     o.leading.empty() ? "" : fmt::format(" ({})", o.leading));
}

std::string show_failing(const app::TuneOutcome& o) {
  if (o.failing.empty()) return "";
  return fmt::format(
      "\n{}\nPairs with a failed run do not count, so each answer takes longer. Fix the failures "
      "first and run the same command again.\n",
      o.failing);
}

std::string show_tried(const app::TuneOutcome& o) {
  if (o.tried.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const app::TriedChange& change : o.tried) {
    if (rows.size() >= kTriedRows) break;
    rows.push_back({change.title, change.verdict, std::string(clip(change.because, kReasonWidth))});
  }
  std::string text =
      "\nWhat was tried and did not work\n" + table({"change", "verdict", "because"}, rows);
  if (o.tried.size() > rows.size()) {
    text += fmt::format("and {} more: amdahl ledger list --family {}\n",
                        o.tried.size() - rows.size(), o.family);
  }
  return text;
}

std::string tuning_text(const app::Ticker& t) {
  return fmt::format("[{}{}] {} promoted, {}, {}  {}", show_duration(t.elapsed),
                     t.left ? fmt::format(", about {} left", show_duration(*t.left)) : "",
                     t.promoted, counted(t.verdicts, "verdict"),
                     counted(t.live, "idea open", "ideas open"), t.doing);
}

}  // namespace

Result<int> do_tune(const TuneFlags& flags) {
  app::TuneOptions options;
  options.argv = flags.command.empty() ? flags.words : flags.command;
  options.family = flags.family;
  options.spec_file = flags.spec;
  options.accelerators = flags.accelerators;
  app::Overrides overrides;
  if (flags.slots != 0) overrides.slots = flags.slots;
  overrides.launcher = flags.launcher;
  app::Config config = TRY(config_for(flags, std::move(overrides)));
  if (!flags.budget.empty()) TRY(app::set_budget(flags.budget, options, config));
  catch_interrupts();
  ProgressLine line(flags);
  options.stopped = interrupted;
  options.say = [&](const std::string& text) {
    if (!flags.quiet) line.say(text);
  };
  options.tick = [&](const app::Ticker& ticker) {
    if (!flags.quiet) line.show(tuning_text(ticker));
  };
  const app::TuneOutcome outcome = TRY(app::tune(config, options));
  line.clear();
  if (flags.json) {
    print_json(api::tuned(outcome));
  } else {
    print(tune_headline(outcome));
    if (!outcome.won.empty()) print(show_won(outcome));
    print(show_tried(outcome));
    print(show_failing(outcome));
    print(show_open(outcome));
    print(fmt::format("\nIts spec, to read and to edit: {}\n", outcome.spec_path));
  }
  if (interrupted()) return interrupt_code();
  return outcome.won.empty() ? 1 : 0;
}

}  // namespace amdahl::cli
