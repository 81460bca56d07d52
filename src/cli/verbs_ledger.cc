#include <algorithm>
#include <map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/context.h"
#include "app/promote.h"
#include "app/status.h"
#include "base/count.h"
#include "base/text.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "ledger/event.h"
#include "model/codec.h"
#include "os/files.h"
#include "os/host.h"
#include "os/private.h"

namespace amdahl::cli {
namespace {

constexpr int kEventsShown = 200;  // Of one subject.
constexpr std::size_t kDetailWidth = 60;

Json json_of(const ledger::Event& event) {
  return {{"seq", event.seq},   {"at_ns", event.at.count()}, {"actor", event.actor},
          {"kind", event.kind}, {"subject", event.subject},  {"payload", event.payload},
          {"hash", event.hash}};
}

Json json_of(const std::vector<ledger::Event>& events) {
  Json list = Json::array();
  for (const ledger::Event& event : events) list.push_back(json_of(event));
  return list;
}

// A slip in a filter must not look like an empty ledger.
Result<> check_filters(const Flags& flags, app::Context& context) {
  if (flags.limit < 1) return bad_input("--limit must be at least 1");
  if (!flags.family.empty()) TRY(app::need_family(context, flags.family));
  std::vector<std::string_view> states{"live", "parked", "reopened"};
  for (int i = 0;; ++i) {
    const std::string_view state = name(static_cast<model::VerdictKind>(i));
    if (!model::verdict_named(state)) break;
    states.push_back(state);
    if (static_cast<model::VerdictKind>(i) == model::VerdictKind::kDropped) break;
  }
  const std::string& wanted = flags.hypothesis_state;
  if (wanted.empty() || std::ranges::find(states, wanted) != states.end()) return Ok{};
  const auto near = did_you_mean(wanted, states);
  const std::vector<std::string> all(states.begin(), states.end());
  return bad_input(fmt::format("no hypothesis is ever '{}'{}; states are: {}", wanted,
                               near ? fmt::format(", did you mean '{}'?", *near) : "",
                               join(all, ", ")));
}

// In this state, where what is parked is no longer called live; "" = all.
Result<std::vector<ledger::HypothesisRow>> rows_in(
    app::Context& context, const Flags& flags, const std::map<std::string, app::Parked>& parked) {
  const std::string& wanted = flags.hypothesis_state;
  std::vector<ledger::HypothesisRow> rows = TRY(context.ledger->hypotheses(flags.family, ""));
  for (ledger::HypothesisRow& row : rows) {
    if (parked.contains(row.hypothesis.id)) row.state = "parked";
  }
  if (!wanted.empty()) std::erase_if(rows, [&](const auto& row) { return row.state != wanted; });
  return rows;
}

// What was measured, or why there is no number.
std::string saves(const ledger::HypothesisRow& row, const std::optional<model::Verdict>& verdict,
                  const std::map<std::string, app::Parked>& parked) {
  const auto waits = parked.find(row.hypothesis.id);
  if (waits != parked.end()) return describe(waits->second.comparison);
  if (!verdict) return "";
  if (verdict->comparison) return describe(*verdict->comparison);
  return verdict->experiment.empty() ? "not tested" : "not measured";
}

Result<int> list(const Flags& flags, app::Context& context) {
  TRY(check_filters(flags, context));
  const std::map<std::string, app::Parked> parked = TRY(app::parked(context));
  std::vector<ledger::HypothesisRow> rows = TRY(rows_in(context, flags, parked));
  const std::size_t total = rows.size();
  if (rows.size() > static_cast<std::size_t>(flags.limit)) {
    rows.erase(rows.begin(), rows.end() - flags.limit);
  }
  Json items = Json::array();
  std::vector<std::vector<std::string>> lines;
  for (const ledger::HypothesisRow& row : rows) {
    const model::Hypothesis& h = row.hypothesis;
    const auto verdict = TRY(context.ledger->verdict(h.id));
    lines.push_back({h.id, h.family, row.state, saves(row, verdict, parked), h.title,
                     model::describe(h.change)});
    Json item = {{"hypothesis", encode(h)}, {"state", row.state}};
    if (const auto it = parked.find(h.id); it != parked.end())
      item["parked"] = parked_json(it->second);
    if (verdict) item["verdict"] = encode(*verdict);
    items.push_back(std::move(item));
  }
  if (flags.json) {
    print_json({{"schema_version", 1}, {"total", total}, {"hypotheses", items}});
    return 0;
  }
  if (lines.empty()) {
    const bool filtered = !flags.family.empty() || !flags.hypothesis_state.empty();
    print(filtered ? "No such hypotheses.\n"
                   : "No hypotheses yet; a profile brings some: amdahl cycle --watch\n");
    return 0;
  }
  print(table({"hypothesis", "family", "state", "saves", "title", "change"}, lines));
  if (total > rows.size()) {
    print(fmt::format("({} older; --limit {} shows all)\n", total - rows.size(), total));
  }
  return 0;
}

// What an event says, for kinds of which one line would look like the next.
std::string detail_of(const ledger::Event& event) {
  const auto text = [&](const char* name) {
    const auto found = event.payload.find(name);
    if (found == event.payload.end() || found->is_null()) return std::string();
    return found->is_string() ? found->get<std::string>() : dump_json(*found);
  };
  if (event.kind == "check.voted") return fmt::format("{}: {}", text("check"), text("vote"));
  if (event.kind == "experiment.staged") return text("stage");
  if (event.kind == "verdict.recorded") return text("kind");
  if (event.kind == "gate.decided") return text("approved") == "true" ? "approved" : "rejected";
  if (event.kind == "budget.set") return text("limit").empty() ? "no limit" : text("limit");
  if (event.kind == "run.reserved") return text("purpose");
  if (event.kind.starts_with("scan.")) return clip(text("why"), kDetailWidth);
  return clip(text("reason"), kDetailWidth);
}

std::string show_events(const std::vector<ledger::Event>& events) {
  std::vector<std::vector<std::string>> lines;
  for (const ledger::Event& event : events) {
    lines.push_back({std::to_string(event.seq), describe_time(event.at), event.kind, event.subject,
                     event.actor, detail_of(event)});
  }
  return table({"event", "UTC", "kind", "about", "by", ""}, lines);
}

Result<int> log(const Flags& flags, app::Context& context, const std::string& subject) {
  if (flags.limit < 1) return bad_input("--limit must be at least 1");
  const std::vector<ledger::Event> events = TRY(context.ledger->events(subject, 0, flags.limit));
  if (flags.json) {
    print_json({{"schema_version", 1}, {"events", json_of(events)}});
  } else if (events.empty()) {
    print(subject.empty() ? "Nothing has happened yet.\n"
                          : fmt::format("No event is about '{}'.\n", subject));
  } else {
    print(show_events(events));
  }
  return events.empty() && !subject.empty() ? 1 : 0;
}

// What is known of one hypothesis.
struct Story {
  ledger::HypothesisRow row;
  std::optional<model::Verdict> verdict;
  std::optional<ledger::ExperimentRow> experiment;
  std::vector<model::Finding> votes;
  std::optional<app::Parked> parked;
  std::vector<ledger::Event> events;  // Of it and its experiment, oldest first.
};

// By its own id, a unique prefix of it, or its experiment's.
Result<ledger::HypothesisRow> find_hypothesis(app::Context& context, const std::string& id) {
  auto row = context.ledger->hypothesis(id);
  if (row || row.error().kind != Error::Kind::kNotFound) return row;
  const auto experiment = context.ledger->experiment(id);
  if (!experiment) return row;
  return context.ledger->hypothesis(experiment->experiment.hypothesis);
}

Result<Story> story_of(app::Context& context, const ledger::HypothesisRow& row) {
  Story story{row, TRY(context.ledger->verdict(row.hypothesis.id)), {}, {}, {}, {}};
  const std::map<std::string, app::Parked> parked = TRY(app::parked(context));
  if (const auto it = parked.find(row.hypothesis.id); it != parked.end()) {
    story.parked = it->second;
    story.row.state = "parked";
  }
  story.events = TRY(context.ledger->events(row.hypothesis.id, 0, kEventsShown));
  if (story.verdict && !story.verdict->experiment.empty()) {
    story.experiment = TRY(context.ledger->experiment(story.verdict->experiment));
  }
  for (const ledger::ExperimentRow& live : TRY(context.ledger->live_experiments())) {
    if (live.experiment.hypothesis == row.hypothesis.id) story.experiment = live;
  }
  if (story.experiment) {
    const std::string& id = story.experiment->experiment.id;
    story.votes = TRY(context.ledger->votes(id));
    const auto more = TRY(context.ledger->events(id, 0, kEventsShown));
    story.events.insert(story.events.end(), more.begin(), more.end());
  }
  std::ranges::sort(story.events, {}, &ledger::Event::seq);
  return story;
}

Json json_of(const Story& story) {
  Json votes = Json::array();
  for (const model::Finding& vote : story.votes) votes.push_back(encode(vote));
  Json doc = {{"schema_version", 1},
              {"hypothesis", encode(story.row.hypothesis)},
              {"state", story.row.state},
              {"votes", votes},
              {"events", json_of(story.events)}};
  if (story.verdict) doc["verdict"] = encode(*story.verdict);
  if (story.parked) doc["parked"] = parked_json(*story.parked);
  if (story.experiment) {
    doc["experiment"] = encode(story.experiment->experiment);
    doc["stage"] = model::name(story.experiment->stage);
    if (story.experiment->comparison) doc["comparison"] = encode(*story.experiment->comparison);
  }
  return doc;
}

std::string show_story(const Flags& flags, const Story& story) {
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
  return text + "\n" + show_events(story.events);
}

Result<int> show(const Flags& flags, app::Context& context, const std::string& id) {
  const auto row = find_hypothesis(context, id);
  if (!row) {  // A run, a family or a campaign has events and no story.
    const bool about = row.error().kind == Error::Kind::kNotFound &&
                       !TRY(context.ledger->events(id, 0, 1)).empty();
    return about ? log(flags, context, id) : Result<int>(row.error());
  }
  const Story story = TRY(story_of(context, *row));
  if (flags.json) {
    print_json(json_of(story));
  } else {
    print(show_story(flags, story));
  }
  return 0;
}

Result<int> search(const Flags& flags, app::Context& context, const std::string& words) {
  if (flags.limit < 1) return bad_input("--limit must be at least 1");
  const std::vector<ledger::HypothesisRow> rows = TRY(context.ledger->search(words, flags.limit));
  if (flags.json) {
    Json found = Json::array();
    for (const ledger::HypothesisRow& row : rows) {
      found.push_back({{"hypothesis", encode(row.hypothesis)}, {"state", row.state}});
    }
    print_json({{"schema_version", 1}, {"found", found}});
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

Result<int> verify(const Flags& flags, app::Context& context) {
  const ledger::VerifyReport report = TRY(context.ledger->verify());
  if (flags.json) {
    print_json({{"schema_version", 1},
                {"ok", report.ok()},
                {"events", report.events},
                {"bad_event", report.bad_event},
                {"differences", report.differences}});
    return report.ok() ? 0 : 1;
  }
  if (report.ok()) {
    print(fmt::format("{}: the hash chain holds and replay gives the same projections.\n",
                      counted(report.events, "event")));
    return 0;
  }
  if (report.bad_event != 0) {
    print(fmt::format("Event {} does not fit its hash: it or one before it was changed.\n",
                      report.bad_event));
  }
  for (const std::string& difference : report.differences) print(difference + "\n");
  return 1;
}

Result<int> export_events(const Flags& flags, app::Context& context) {
  std::string text;
  std::int64_t count = 0;
  const bool to_file = !flags.output.empty();
  TRY(context.ledger->each_event(0, [&](const ledger::Event& event) {
    ++count;
    text += dump_json(json_of(event)) + "\n";
    if (!to_file) {
      print(text);
      text.clear();
    }
    return true;
  }));
  if (to_file) {
    TRY(os::write_shared(flags.output, text));
    fmt::print(stderr, "{} written to {}\n", counted(count, "event"), flags.output);
  }
  return 0;
}

Result<int> reopen(const Flags& flags, app::Context& context, const std::string& id) {
  const ledger::HypothesisRow row = TRY(find_hypothesis(context, id));
  if (trim(flags.reason).empty()) {
    return bad_input(fmt::format("reopening needs a reason: amdahl ledger reopen {} --reason TEXT",
                                 row.hypothesis.id));
  }
  const std::string who = flags.as.empty() ? os::user_name() : flags.as;
  TRY(app::reopen(context, row, who, flags.reason));
  if (flags.json) {
    print_json({{"schema_version", 1}, {"hypothesis", row.hypothesis.id}, {"state", "reopened"}});
    return 0;
  }
  print(
      fmt::format("{} is reopened: it may be proposed again. Put it back with: amdahl propose "
                  "{}, or let the next profile do so.\n",
                  row.hypothesis.id, row.hypothesis.family));
  return 0;
}

}  // namespace

Result<int> do_ledger(const Flags& flags) {
  const std::string what = flags.words.empty() ? "list" : flags.words.front();
  const std::vector<std::string> rest(flags.words.begin() + (flags.words.empty() ? 0 : 1),
                                      flags.words.end());
  constexpr std::array<std::string_view, 7> kWays = {"list",   "log",    "show",  "search",
                                                     "verify", "export", "reopen"};
  const std::string use =
      "ledger wants: list, log [ID], show ID, search WORDS, verify, export or reopen ID --reason "
      "TEXT";
  if (std::ranges::find(kWays, what) == kWays.end()) {
    const auto near = did_you_mean(what, kWays);
    return bad_input(near ? fmt::format("ledger knows no '{}', did you mean '{}'?", what, *near)
                          : use);
  }
  const bool wants_id = what == "show" || what == "reopen";
  const bool wrong = wants_id           ? rest.size() != 1
                     : what == "search" ? rest.empty()
                     : what == "log"    ? rest.size() > 1
                                        : !rest.empty();
  if (wrong) return bad_input(use);
  app::Context context = TRY(context_for(flags, false));
  if (what == "log") return log(flags, context, rest.empty() ? "" : rest.front());
  if (what == "show") return show(flags, context, rest.front());
  if (what == "search") return search(flags, context, join(rest, " "));
  if (what == "verify") return verify(flags, context);
  if (what == "export") return export_events(flags, context);
  if (what == "reopen") return reopen(flags, context, rest.front());
  return list(flags, context);
}

}  // namespace amdahl::cli
