#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/fleet.h"
#include "api/job.h"
#include "api/loop.h"
#include "app/describe.h"
#include "app/door.h"
#include "app/fleet.h"
#include "app/memory.h"
#include "app/pages.h"
#include "app/propose.h"
#include "app/run.h"
#include "app/tune.h"
#include "base/screen.h"
#include "base/text.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace amdahl::cli {
namespace {

Result<std::string> only_word(const Flags& flags, std::string_view what, std::string_view verb) {
  if (flags.words.size() == 1) return flags.words.front();
  return bad_input(fmt::format("{} needs one {}; type: amdahl {} --help", verb, what, verb));
}

std::string describe_stack(const app::RunOutcome& outcome) {
  if (!outcome.warning.empty()) {
    return fmt::format("it ran as typed, because the promoted changes cannot be applied to it: {}",
                       outcome.warning);
  }
  const model::CanaryRun& run = outcome.canary;
  std::string text = run.changes.empty() ? "it ran without promoted changes"
                                         : fmt::format("it ran with {}", join(run.changes, ", "));
  if (!run.held_back.empty()) {
    text += fmt::format("; its canary left out {}", run.held_back);
  }
  if (outcome.held > 0) {
    text += fmt::format(
        "; its allocation has {} accelerators, and the promoted changes use {}: ask the scheduler "
        "for {}, or nothing is saved",
        outcome.held, outcome.receipt.accelerators, outcome.receipt.accelerators);
  }
  return text;
}

// Runs the command twice and infers the spec from both runs, as `amdahl tune` does.
Result<app::Adopted> adopt_by_running(const AdoptFlags& flags) {
  if (!flags.words.empty() || !flags.output.empty() || !flags.spec.empty()) {
    return bad_input(
        "adopt takes a job, --spec or a command, one of them; --output is for a job alone; type: "
        "amdahl adopt --help");
  }
  ProgressLine line(flags);
  app::TuneOptions options;
  options.argv = flags.command;
  options.family = flags.family;
  options.anew = flags.replace;
  options.say = [&](const std::string& text) { line.say(text); };
  options.stopped = interrupted;
  catch_interrupts();
  const app::Config config = TRY(config_for(flags));
  const app::TuneOutcome outcome = TRY(app::adopt_command(config, options));
  app::Context context = TRY(context_for(flags, false));
  return app::Adopted{TRY(app::need_family(context, outcome.family)).spec, outcome.spec_path, {}};
}

}  // namespace

Result<int> do_run(const RunFlags& flags) {
  app::RunOptions options;
  options.argv = flags.command.empty() ? flags.words : flags.command;
  options.family = flags.family;
  options.accelerators = flags.accelerators;
  options.time_limit_s = flags.time_limit;
  options.memory_limit_mb = flags.memory_limit;
  options.quiet = flags.quiet || flags.json;
  options.spec_file = flags.spec;
  options.promoted = flags.promoted;
  const app::Config config = TRY(config_for(flags));
  const app::RunOutcome outcome = TRY(app::run_job(config, options));
  const model::Receipt& r = outcome.receipt;
  if (flags.json) {
    print_json(api::run(outcome));
  } else {
    if (flags.promoted) fmt::print(stderr, "amdahl: {}\n", describe_stack(outcome));
    fmt::print(stderr,
               "amdahl: {} {}: {} in {}, {} of CPU time in {} of accelerator time; see: amdahl "
               "anatomy {}\n",
               outcome.job, r.family, describe_ending(r), show_duration(r.wall),
               show_duration(r.cpu_user + r.cpu_system),
               show_duration(from_seconds(cost(r).count())), outcome.job);
    for (const profile::GpuUse& gpu : outcome.gpus) {
      fmt::print(stderr, "amdahl: {}\n", describe(gpu));
    }
  }
  return exit_status(r);
}

Result<int> do_anatomy(const Flags& flags) {
  const std::string job = flags.words.empty() ? "last" : TRY(only_word(flags, "job", "anatomy"));
  const app::Config config = TRY(config_for(flags));
  const scan::Anatomy anatomy = TRY(app::job_anatomy(config, job));
  if (flags.json) {
    print_json(api::anatomy(anatomy));
  } else {
    const model::Usage usage = TRY(app::find_job(config, job));
    if (usage.failed) print(fmt::format("The job failed ({}).\n\n", plain(usage.ending)));
    print(app::draw(
        anatomy,
        {.width = terminal_width(flags), .colour = use_colour(flags), .ascii = flags.ascii}));
  }
  return 0;
}

Result<int> do_adopt(const AdoptFlags& flags) {
  const auto adopt = [&]() -> Result<app::Adopted> {
    if (!flags.command.empty()) return adopt_by_running(flags);
    app::Context context = TRY(context_for(flags, true));
    if (!flags.spec.empty()) return app::adopt_spec(context, flags.spec, flags.replace);
    const std::string job = flags.words.empty() ? "last" : TRY(only_word(flags, "job", "adopt"));
    return app::adopt_job(context, job, flags.family, flags.output, flags.replace);
  };
  const app::Adopted adopted = TRY(adopt());
  if (flags.json) {
    print_json(api::adopted(adopted));
    return 0;
  }
  print(fmt::format("{} can be experimented on; its spec is {}\n", adopted.spec.family,
                    adopted.path));
  for (const auto& [name, knob] : adopted.spec.knobs) {
    print(fmt::format("  knob {:<18} {} = {}\n", name, knob.arg.empty() ? knob.env : knob.arg,
                      knob.value.empty() ? "(not set)" : knob.value));
  }
  for (const std::string& todo : adopted.notes) print(fmt::format("  to do: {}\n", todo));
  if (!adopted.notes.empty()) {
    print(fmt::format("Edit it, then: amdahl adopt --spec {} --replace\n", adopted.path));
  }
  return 0;
}

Result<int> do_propose(const ProposeFlags& flags) {
  const std::string family = TRY(only_word(flags, "family", "propose"));
  const model::Change change = TRY(app::parse_change(
      {flags.env, flags.args, flags.sets, flags.inject, flags.accelerators, flags.patch}));
  app::Context context = TRY(context_for(flags, false));
  const app::Proposal proposal = TRY(
      app::propose(context, family,
                   {change, flags.title, flags.gain / 100, flags.cause, app::user_or(flags.as)}));
  if (!proposal.accepted) return Error{Error::Kind::kConflict, proposal.refused};
  const model::Hypothesis& h = *proposal.accepted;
  if (flags.json) {
    print_json(api::proposed(h));
    return 0;
  }
  if (proposal.resumed) {
    print(fmt::format("{} was parked: {} ({}). The next cycle continues with it.\n", h.id, h.title,
                      model::describe(h.change)));
  } else {
    print(fmt::format("{} is live: {} ({}). The next cycle tests it.\n", h.id, h.title,
                      model::describe(h.change)));
  }
  for (const app::Remembered& past : proposal.known) {
    const bool measured = past.verdict && past.verdict->comparison;
    print(fmt::format("near: {} {} ({}, {}): {}{}\n", past.row.hypothesis.id,
                      past.row.hypothesis.title, past.row.hypothesis.family,
                      hypothesize::describe(past.nearness), past.row.state,
                      measured ? ", " + app::describe(*past.verdict->comparison) : ""));
  }
  return 0;
}

}  // namespace amdahl::cli
