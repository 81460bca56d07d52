#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/job.h"
#include "app/compare_pair.h"
#include "app/pages.h"
#include "base/text.h"
#include "cli/outputs.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace amdahl::cli {
namespace {

std::string show_so_far(const app::CompareProgress& at) {
  const model::Comparison& c = at.so_far;
  if (c.pairs == 0) return "";
  const double most = std::max(c.log_e_win, c.log_e_worse);
  return fmt::format("; so far {} {}, E {} of {:.0f}",
                     show_percent(share_of(c.effect, at.metric_text)),
                     at.metric_text.lower_is_better ? "saved" : "gained",
                     show_number(std::exp(std::min(most, 13.0))), std::exp(at.log_e_needed));
}

std::string show_left(const app::CompareProgress& at) {
  std::string text;
  if (at.pairs_left) {
    text = fmt::format("; about {} more pair{}", *at.pairs_left, *at.pairs_left == 1 ? "" : "s");
  }
  if (at.seconds_left > 0) {
    text += fmt::format("{} {}", text.empty() ? "; about" : ",",
                        show_duration(from_seconds(at.seconds_left)));
  }
  return text;
}

std::string show_arm(const app::CompareProgress& at) {
  std::string text = "; " + at.arm;
  if (at.elapsed_s > 0) text += " " + show_duration(from_seconds(at.elapsed_s));
  if (at.elapsed_s > 0 && at.expected_s > 0) {
    text += " of about " + show_duration(from_seconds(at.expected_s));
  }
  return text;
}

// What matters most comes first: a narrow terminal cuts the rest.
std::string show_progress(const app::CompareProgress& at) {
  return fmt::format("{} {} of {}{}{}{}{}", at.stage, at.number,
                     at.stage == "pair" ? "at most " : "", at.most, show_left(at), show_so_far(at),
                     show_arm(at));
}

void put_into(app::CompareQuestion& question, const CompareFlags& flags) {
  if (flags.pairs != 0) question.pairs = flags.pairs;
  if (flags.accelerators > 0) {
    question.a.accelerators = question.b.accelerators = flags.accelerators;
  }
  if (flags.noise != 0) question.noise = flags.noise / 100;
  if (flags.same >= 0) question.same = flags.same;
  question.claim = flags.claim / 100;
  question.warm_up = flags.warm_up;
  question.confidence = flags.confidence / 100;
  question.precision = flags.precision / 100;
  question.metric = flags.metric;
  question.higher_is_better = flags.higher;
  question.work = flags.work_pattern;
  question.concurrent = flags.concurrent;
  question.seed = flags.seed;
}

Result<app::CompareOutcome> tried(const CompareFlags& flags, const app::CompareWatch& watch) {
  const app::Config config = TRY(config_for(flags));
  const std::vector<std::string>& words = flags.command.empty() ? flags.words : flags.command;
  if (flags.resume.empty()) {
    app::CompareQuestion question = TRY(app::parse_compare(words));
    put_into(question, flags);
    return app::compare_pairs(config, question, watch);
  }
  app::CompareAgain again;
  again.folder = flags.resume;
  again.words = words;
  if (flags.pairs != 0) again.pairs = flags.pairs;
  if (flags.precision != 0) again.precision = flags.precision / 100;
  return app::compare_again(config, again, watch);
}

void show(const CompareFlags& flags, const app::CompareOutcome& outcome) {
  if (flags.json) return print_json(api::compared(outcome));
  if (flags.quiet) return print(outcome.account.verdict + "\n");
  print(app::draw(
      outcome,
      {.width = terminal_width(flags), .colour = use_colour(flags), .ascii = use_ascii(flags)}));
  print(fmt::format("{:<13}{}\n", "Kept in", outcome.folder));
}

}  // namespace

Result<int> do_compare(const CompareFlags& flags) {
  catch_interrupts();
  ProgressLine line(flags);
  const bool silent = flags.quiet || (flags.json && !line.live());
  app::CompareWatch watch;
  watch.stopped = interrupted;
  if (!silent) {
    watch.progress = [&](const app::CompareProgress& at) { line.show(show_progress(at)); };
    watch.say = [&](const std::string& text) { line.say(text); };
  }
  const auto outcome = tried(flags, watch);
  line.clear();
  if (!outcome) return outcome.error();
  if (!flags.html.empty()) TRY(write_page(flags, app::page_of(*outcome)));
  show(flags, *outcome);
  if (outcome->account.measured.interrupted) return 130;
  return outcome->account.comparison.answer == model::Answer::kBetter ? 0 : 1;
}

}  // namespace amdahl::cli
