#include <algorithm>
#include <map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/history.h"
#include "app/calibration.h"
#include "app/context.h"
#include "app/describe.h"
#include "app/door.h"
#include "app/history.h"
#include "app/pair_story.h"
#include "app/promote.h"
#include "app/status.h"
#include "app/store.h"
#include "base/count.h"
#include "base/text.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace amdahl::cli {
namespace {

// The measurement, or why there is none.
std::string saves(const ledger::HypothesisPage::Item& item,
                  const std::map<std::string, app::Parked>& parked) {
  const auto waits = parked.find(item.row.hypothesis.id);
  if (waits != parked.end()) return describe(waits->second.comparison);
  const std::optional<model::Verdict>& verdict = item.verdict;
  if (!verdict) return "";
  if (verdict->comparison) return describe(*verdict->comparison);
  return verdict->experiment.empty() ? "not tested" : "not measured";
}

Result<int> list(const LedgerFlags& flags, app::Context& context) {
  const app::HypothesisFilter filter{flags.family, flags.hypothesis_state, flags.before,
                                     flags.limit};
  if (flags.json) {
    print_json(TRY(api::hypotheses(context, filter)));
    return 0;
  }
  const app::HypothesisList all = TRY(app::list_hypotheses(context, filter));
  const ledger::HypothesisPage& page = all.page;
  std::vector<std::vector<std::string>> lines;
  for (auto item = page.items.rbegin(); item != page.items.rend(); ++item) {
    const model::Hypothesis& h = item->row.hypothesis;
    lines.push_back({h.id, h.family, item->row.state, saves(*item, all.parked), h.title,
                     model::describe(h.change)});
  }
  if (lines.empty()) {
    const bool filtered = !flags.family.empty() || !flags.hypothesis_state.empty();
    print(filtered || flags.before > 0
              ? "No such hypotheses.\n"
              : "No hypotheses yet; a profile brings some: amdahl cycle --watch\n");
    return 0;
  }
  print(table({"hypothesis", "family", "state", "saves", "title", "change"}, lines));
  if (page.next != 0) {
    print(fmt::format("({} in all; older ones: --before {})\n", page.total, page.next));
  }
  return 0;
}

std::string show_events(const std::vector<ledger::Event>& events) {
  std::vector<std::vector<std::string>> lines;
  for (const ledger::Event& event : events) {
    lines.push_back({std::to_string(event.seq), describe_time(event.at), event.kind, event.subject,
                     event.actor, app::detail_of(event)});
  }
  return table({"event", "UTC", "kind", "about", "by", ""}, lines);
}

Result<int> log(const LedgerFlags& flags, app::Context& context, const std::string& subject) {
  const std::vector<ledger::Event> events =
      TRY(app::events_about(context, subject, 0, flags.limit));
  if (flags.json) {
    print_json(api::events(events));
  } else if (events.empty()) {
    print(subject.empty() ? "Nothing has happened yet.\n"
                          : fmt::format("No events for '{}'.\n", subject));
  } else {
    print(show_events(events));
  }
  return events.empty() && !subject.empty() ? 1 : 0;
}

std::string show_story(const LedgerFlags& flags, const app::Story& story) {
  const model::Hypothesis& h = story.row.hypothesis;
  std::string text = fmt::format("{}  {}  {}\n\n{}\nChange      {}\n", bold(flags, h.id), h.family,
                                 story.row.state, h.title, model::describe(h.change));
  if (!h.mechanism.empty()) text += fmt::format("Mechanism   {}\n", h.mechanism);
  text += fmt::format(
      "Origin      {} {}\nPredicted   saves {}{}\nKey         {}\n", h.origin.kind, h.origin.ref,
      show_percent(h.predicted_gain),
      h.ceiling_share > 0 ? fmt::format(" of at most {}", show_percent(h.ceiling_share)) : "",
      h.key);
  if (story.experiment && story.experiment->state == "live") {
    text += fmt::format("Experiment  {}, stage {}\n", story.experiment->experiment.id,
                        model::name(story.experiment->stage));
  }
  if (story.verdict) {
    text += fmt::format("Verdict     {}: {}\n", name(story.verdict->kind), story.verdict->reason);
  }
  if (story.verdict && story.verdict->comparison) {
    text += fmt::format("Measured    {}\n", describe(*story.verdict->comparison));
  }
  if (story.parked) {
    text += fmt::format("Measured    {}\nParked      {}\n", describe(story.parked->comparison),
                        what_settles(*story.parked));
  }
  if (!story.votes.empty()) text += "\nVotes\n" + show_votes(story.votes);
  if (!story.attacks.empty()) text += "\nAttacks by models\n" + app::show_attacks(story.attacks);
  return text + "\n" + show_events(story.events);
}

Result<int> show(const LedgerFlags& flags, app::Context& context, const std::string& id) {
  const auto row = app::find_hypothesis(context, id);
  if (!row) {  // A run, a family or a campaign has events and no story.
    const bool about = row.error().kind == Error::Kind::kNotFound &&
                       !TRY(app::events_about(context, id, 0, 1)).empty();
    return about ? log(flags, context, id) : Result<int>(row.error());
  }
  const app::Story story = TRY(app::story_of(context, *row));
  if (flags.json) {
    print_json(api::story(story));
  } else {
    print(show_story(flags, story));
  }
  return 0;
}

Result<int> pairs(const LedgerFlags& flags, app::Context& context, const std::string& id) {
  const app::PairStory story = TRY(app::pairs_of(context, id));
  if (flags.json) {
    print_json(api::pairs(story));
    return 0;
  }
  std::vector<std::vector<std::string>> lines;
  for (const app::PairStep& step : story.steps) {
    const model::Pair& pair = step.pair;
    lines.push_back({std::to_string(pair.index), model::text_of(pair.aim),
                     pair.variant_second ? "A, B" : "B, A",
                     step.effect                 ? saving(*step.effect)
                     : step.void_because.empty() ? std::string(model::name(pair.state))
                                                 : "void: " + step.void_because,
                     step.after ? describe(*step.after) : ""});
  }
  print(table({"pair", "for", "order", "saves", "all so far"}, lines));
  return 0;
}

Result<int> search(const LedgerFlags& flags, app::Context& context, const std::string& words) {
  const std::vector<ledger::HypothesisRow> rows = TRY(app::search(context, words, flags.limit));
  if (flags.json) {
    print_json(api::found(rows));
    return rows.empty() ? 1 : 0;
  }
  std::vector<std::vector<std::string>> lines;
  for (const ledger::HypothesisRow& row : rows) {
    lines.push_back({row.hypothesis.id, row.hypothesis.family, row.state, row.hypothesis.title,
                     model::describe(row.hypothesis.change)});
  }
  print(lines.empty() ? "Nothing found; all words must occur in a title, a mechanism, a change or "
                        "a verdict's reason.\n"
                      : table({"hypothesis", "family", "state", "title", "change"}, lines));
  return lines.empty() ? 1 : 0;
}

Result<int> calibration(const LedgerFlags& flags, app::Context& context) {
  const app::Calibration answer = TRY(app::calibrate(context));
  if (flags.json) {
    print_json(api::calibration(answer));
    return 0;
  }
  const auto share = [](const std::optional<double>& value) {
    return value ? show_percent(*value) : std::string("–");
  };
  std::vector<std::vector<std::string>> lines;
  for (const app::CalibrationRow& row : answer.origins) {
    lines.push_back({row.origin, std::to_string(row.proposed), std::to_string(row.tested),
                     std::to_string(row.promoted), row.tested > 0 ? show_percent(row.chance) : "–",
                     share(row.frequency), share(row.predicted_gain), share(row.measured_gain),
                     share(row.gain_error)});
  }
  if (lines.empty()) {
    print("No hypotheses yet; a profile brings some: amdahl cycle --watch\n");
    return 0;
  }
  print(table({"origin", "proposed", "tested", "promoted", "chance", "came true", "predicted",
               "measured", "off by"},
              lines));
  std::vector<std::vector<std::string>> cells;
  for (const auto& [cell, counts] : answer.priors.cells()) {
    cells.push_back({std::string(model::name(cell.first)), cell.second, show_number(counts.tried),
                     show_number(counts.won)});
  }
  if (!cells.empty()) {
    print("\nWhat new ideas start from (verdicts, older ones weigh less)\n");
    print(table({"against", "kind", "tried", "won"}, cells));
  }
  return 0;
}

Result<int> verify(const LedgerFlags& flags, app::Context& context) {
  const ledger::VerifyReport report = TRY(app::verify(context));
  if (flags.json) {
    print_json(api::verified(report));
    return report.ok() ? 0 : 1;
  }
  if (report.ok()) {
    print(fmt::format("{}: the hash chain holds and replay gives the same projections.\n",
                      counted(report.events, "event")));
    return 0;
  }
  if (report.bad_event != 0) {
    print(fmt::format("Event {} does not match its hash: it or an earlier event was changed.\n",
                      report.bad_event));
  }
  for (const std::string& difference : report.differences) print(difference + "\n");
  return 1;
}

Result<int> export_events(const LedgerFlags& flags, app::Context& context) {
  std::string text;
  std::int64_t count = 0;
  const bool to_file = !flags.output.empty();
  TRY(app::each_event(context, [&](const ledger::Event& event) {
    ++count;
    text += dump_json(api::event(event)) + "\n";
    if (!to_file) {
      print(text);
      text.clear();
    }
    return true;
  }));
  if (to_file) {
    TRY(app::write_output(flags.output, text));
    fmt::print(stderr, "{} written to {}\n", counted(count, "event"), flags.output);
  }
  return 0;
}

Result<int> reopen(const LedgerFlags& flags, app::Context& context, const std::string& id) {
  const ledger::HypothesisRow row = TRY(app::find_hypothesis(context, id));
  if (trim(flags.reason).empty()) {
    return bad_input(fmt::format("reopening needs a reason: amdahl ledger reopen {} --reason TEXT",
                                 row.hypothesis.id));
  }
  TRY(app::reopen(context, row, app::user_or(flags.as), flags.reason));
  if (flags.json) {
    print_json(api::reopened(row.hypothesis.id));
    return 0;
  }
  print(
      fmt::format("{} is reopened: it may be proposed again. Put it back with: amdahl propose "
                  "{}, or let the next profile do so.\n",
                  row.hypothesis.id, row.hypothesis.family));
  return 0;
}

// Needs no ledger of its own: both are named.
Result<int> copy(const LedgerFlags& flags, const std::string& from, const std::string& to) {
  const app::Config config = TRY(config_for(flags));
  const app::CopiedLedger done = TRY(app::copy_ledger(config, from, to));
  if (flags.json) {
    print_json(api::copied(done));
    return 0;
  }
  print(fmt::format("{} copied. Both ledgers have {} and verify; the last hash is {}.\n",
                    counted(done.copied, "event"), counted(done.events, "event"), done.hash));
  return 0;
}

}  // namespace

Result<int> do_ledger(const LedgerFlags& flags) {
  const std::string what = flags.words.empty() ? "list" : flags.words.front();
  const std::vector<std::string> rest(flags.words.begin() + (flags.words.empty() ? 0 : 1),
                                      flags.words.end());
  constexpr std::array<std::string_view, 10> kWays = {"list",   "log",         "show",   "pairs",
                                                      "search", "calibration", "verify", "export",
                                                      "copy",   "reopen"};
  const std::string use =
      "ledger needs one of: list, log [ID], show ID, pairs ID, search WORDS, calibration, verify, "
      "export, "
      "copy FROM TO or reopen ID --reason TEXT";
  if (std::ranges::find(kWays, what) == kWays.end()) {
    const auto near = did_you_mean(what, kWays);
    return bad_input(
        near ? fmt::format("ledger: unknown subcommand '{}', did you mean '{}'?", what, *near)
             : use);
  }
  const bool wants_id = what == "show" || what == "pairs" || what == "reopen";
  const bool wrong = wants_id           ? rest.size() != 1
                     : what == "copy"   ? rest.size() != 2
                     : what == "search" ? rest.empty()
                     : what == "log"    ? rest.size() > 1
                                        : !rest.empty();
  if (wrong) return bad_input(use);
  if (what == "copy") return copy(flags, rest.front(), rest.back());
  app::Context context = TRY(context_for(flags, false));
  if (what == "log") return log(flags, context, rest.empty() ? "" : rest.front());
  if (what == "show") return show(flags, context, rest.front());
  if (what == "pairs") return pairs(flags, context, rest.front());
  if (what == "search") return search(flags, context, join(rest, " "));
  if (what == "calibration") return calibration(flags, context);
  if (what == "verify") return verify(flags, context);
  if (what == "export") return export_events(flags, context);
  if (what == "reopen") return reopen(flags, context, rest.front());
  return list(flags, context);
}

}  // namespace amdahl::cli
