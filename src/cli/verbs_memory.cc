#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/context.h"
#include "app/dreaming.h"
#include "app/propose.h"
#include "app/roi.h"
#include "base/text.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "model/codec.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::cli {
namespace {

Json json_of(const ledger::Event& event) {
  return {{"seq", event.seq},   {"at_ns", event.at.count()}, {"actor", event.actor},
          {"kind", event.kind}, {"subject", event.subject},  {"payload", event.payload},
          {"hash", event.hash}};
}

Result<int> ledger_list(const Flags& flags, app::Context& context) {
  std::vector<ledger::HypothesisRow> rows =
      TRY(context.ledger->hypotheses(flags.family, flags.hypothesis_state));
  const std::size_t total = rows.size();
  if (rows.size() > static_cast<std::size_t>(std::max(1, flags.limit))) {
    rows.erase(rows.begin(), rows.end() - std::max(1, flags.limit));
  }
  Json list = Json::array();
  std::vector<std::vector<std::string>> lines;
  for (const ledger::HypothesisRow& row : rows) {
    const model::Hypothesis& h = row.hypothesis;
    const auto verdict = TRY(context.ledger->verdict(h.id));
    std::string saves;
    if (verdict && verdict->comparison) saves = describe(*verdict->comparison);
    lines.push_back({h.id, h.family, row.state, saves, h.title, model::describe(h.change)});
    Json item = {{"hypothesis", encode(h)}, {"state", row.state}};
    if (verdict) item["verdict"] = encode(*verdict);
    list.push_back(std::move(item));
  }
  if (flags.json) {
    print_json({{"schema_version", 1}, {"total", total}, {"hypotheses", list}});
    return 0;
  }
  if (lines.empty()) {
    print("No hypotheses.\n");
    return 0;
  }
  print(table({"hypothesis", "family", "state", "saves", "title", "change"}, lines));
  if (total > rows.size()) {
    print(fmt::format("({} older ones; --limit {} shows all)\n", total - rows.size(), total));
  }
  return 0;
}

Result<int> ledger_show(const Flags& flags, app::Context& context, const std::string& id) {
  const ledger::HypothesisRow row = TRY(context.ledger->hypothesis(id));
  const model::Hypothesis& h = row.hypothesis;
  const auto verdict = TRY(context.ledger->verdict(h.id));
  std::vector<ledger::Event> events = TRY(context.ledger->events(h.id, 0, 200));
  std::vector<model::Finding> votes;
  if (verdict && !verdict->experiment.empty()) {
    votes = TRY(context.ledger->votes(verdict->experiment));
    const auto more = TRY(context.ledger->events(verdict->experiment, 0, 200));
    events.insert(events.end(), more.begin(), more.end());
  }
  std::ranges::sort(events, {}, &ledger::Event::seq);
  if (flags.json) {
    Json list = Json::array();
    for (const ledger::Event& event : events) list.push_back(json_of(event));
    Json doc = {
        {"schema_version", 1}, {"hypothesis", encode(h)}, {"state", row.state}, {"events", list}};
    if (verdict) doc["verdict"] = encode(*verdict);
    print_json(doc);
    return 0;
  }
  print(
      fmt::format("{}  {}  {}\n\n{}\nChange     {}\nMechanism  {}\nOrigin     {} {}\n"
                  "Predicted  saves {} of at most {}\nKey        {}\n",
                  bold(flags, h.id), h.family, row.state, h.title, model::describe(h.change),
                  h.mechanism, h.origin.kind, h.origin.ref, show_percent(h.predicted_gain),
                  show_percent(h.ceiling_share), h.key));
  if (verdict) {
    print(fmt::format("Verdict    {}: {}\n", name(verdict->kind), verdict->reason));
    if (verdict->comparison) print(fmt::format("Measured   {}\n", describe(*verdict->comparison)));
  }
  if (!votes.empty()) print("\nVotes\n" + show_votes(votes));
  print("\nEvents\n");
  for (const ledger::Event& event : events) {
    print(fmt::format("  {:>7}  {}  {:<22} {}\n", event.seq, describe_time(event.at), event.kind,
                      event.actor));
  }
  return 0;
}

Result<int> ledger_search(const Flags& flags, app::Context& context, const std::string& words) {
  const std::vector<ledger::HypothesisRow> rows = TRY(context.ledger->search(words, flags.limit));
  if (flags.json) {
    Json list = Json::array();
    for (const ledger::HypothesisRow& row : rows) {
      list.push_back({{"hypothesis", encode(row.hypothesis)}, {"state", row.state}});
    }
    print_json({{"schema_version", 1}, {"found", list}});
    return rows.empty() ? 1 : 0;
  }
  std::vector<std::vector<std::string>> lines;
  for (const ledger::HypothesisRow& row : rows) {
    lines.push_back({row.hypothesis.id, row.hypothesis.family, row.state, row.hypothesis.title,
                     model::describe(row.hypothesis.change)});
  }
  print(lines.empty() ? "Nothing found.\n"
                      : table({"hypothesis", "family", "state", "title", "change"}, lines));
  return lines.empty() ? 1 : 0;
}

Result<int> ledger_verify(const Flags& flags, app::Context& context) {
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
    print(fmt::format("{} events: the hash chain holds and replay gives the same projections.\n",
                      report.events));
    return 0;
  }
  if (report.bad_event != 0) {
    print(fmt::format("Event {} does not fit its hash: it or one before it was changed.\n",
                      report.bad_event));
  }
  for (const std::string& difference : report.differences) print(difference + "\n");
  return 1;
}

Result<int> ledger_export(const Flags& flags, app::Context& context) {
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
    TRY(os::write_file(flags.output, text));
    fmt::print(stderr, "{} events written to {}\n", count, flags.output);
  }
  return 0;
}

Result<int> ledger_reopen(const Flags& flags, app::Context& context, const std::string& id) {
  if (trim(flags.reason).empty()) return bad_input("reopen wants a --reason");
  const ledger::HypothesisRow row = TRY(context.ledger->hypothesis(id));
  const std::string who = flags.as.empty() ? os::user_name() : flags.as;
  TRY(app::note(context,
                {"hypothesis.reopened", who, row.hypothesis.id, {{"reason", flags.reason}}}));
  print(
      fmt::format("{} is reopened: it may be proposed again. Put it back with: amdahl propose "
                  "{}, or let the next profile do so.\n",
                  row.hypothesis.id, row.hypothesis.family));
  return 0;
}

}  // namespace

Result<int> do_ledger(const Flags& flags) {
  const std::string what = flags.words.empty() ? "list" : flags.words.front();
  const bool wants_id = what == "show" || what == "reopen" || what == "search";
  constexpr std::string_view kUse =
      "ledger wants: list, show ID, search WORDS, verify, export or reopen ID --reason TEXT";
  if (wants_id && flags.words.size() < 2) return bad_input(std::string(kUse));
  if (!wants_id && flags.words.size() > 1) return bad_input(std::string(kUse));
  app::Context context = TRY(context_for(flags, false));
  if (what == "list") return ledger_list(flags, context);
  if (what == "show") return ledger_show(flags, context, flags.words[1]);
  if (what == "verify") return ledger_verify(flags, context);
  if (what == "export") return ledger_export(flags, context);
  if (what == "reopen") return ledger_reopen(flags, context, flags.words[1]);
  if (what == "search") {
    return ledger_search(flags, context,
                         join(std::vector(flags.words.begin() + 1, flags.words.end()), " "));
  }
  return bad_input(std::string(kUse));
}

Result<int> do_dream(const Flags& flags) {
  app::Context context = TRY(context_for(flags, false));
  const app::DreamOutcome outcome =
      TRY(app::dream_up(context, {.docs = flags.docs, .family = flags.family}));
  if (flags.json) {
    Json list = Json::array();
    for (const model::Hypothesis& h : outcome.injected) list.push_back(encode(h));
    print_json({{"schema_version", 1},
                {"injected", list},
                {"known", outcome.known},
                {"wins", outcome.wins_searched},
                {"documents", outcome.documents},
                {"passages", outcome.passages}});
    return 0;
  }
  print(fmt::format("Searched {} wins and {} documents ({} passages).\n", outcome.wins_searched,
                    outcome.documents, outcome.passages));
  for (const std::string& family : outcome.unprofiled) {
    print(fmt::format("{0} has no profile yet: amdahl profile {0}\n", family));
  }
  std::vector<std::vector<std::string>> rows;
  for (const model::Hypothesis& h : outcome.injected) {
    rows.push_back({h.id, h.family, h.title, model::describe(h.change), h.origin.ref});
  }
  print(rows.empty() ? "Nothing new came of it.\n"
                     : table({"hypothesis", "family", "title", "change", "origin"}, rows));
  if (const std::string known = app::describe_known(outcome.known); !known.empty()) {
    print(known + "\n");
  }
  return 0;
}

Result<int> do_roi(const Flags& flags) {
  app::Context context = TRY(context_for(flags, false));
  const app::Roi roi = TRY(app::return_on_investment(
      context, flags.price >= 0 ? std::optional(flags.price) : std::nullopt));
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const app::RoiRow& r : roi.rows) {
    list.push_back({{"family", r.family},
                    {"spent_accelerator_s", r.spent_accelerator_s},
                    {"promoted", r.promoted},
                    {"predicted_share", r.predicted_share},
                    {"realised_share", r.realised_share ? Json(*r.realised_share) : Json()},
                    {"realised_pairs", r.realised_pairs},
                    {"saved_accelerator_h_per_day", r.saved_accelerator_h_per_day}});
    rows.push_back(
        {r.family, std::to_string(r.promoted), show_number(r.spent_accelerator_s / 3600),
         r.promoted ? show_percent(r.predicted_share) : "–",
         r.realised_share
             ? fmt::format("{} ({} to {}, 95 %, {} pairs)", show_percent(*r.realised_share),
                           show_percent(r.realised_lower), show_percent(r.realised_upper),
                           r.realised_pairs)
             : (r.promoted ? "not re-measured" : "–"),
         show_number(r.volume_accelerator_h_per_day), show_number(r.saved_accelerator_h_per_day),
         fmt::format("${:.2f}", 30 * r.saved_accelerator_h_per_day * roi.price)});
  }
  if (flags.json) {
    print_json({{"schema_version", 1},
                {"price_usd", roi.price},
                {"families", list},
                {"spent_accelerator_h", roi.spent_accelerator_h},
                {"saved_accelerator_h_per_day", roi.saved_accelerator_h_per_day},
                {"pays_back_days", roi.pays_back_days ? Json(*roi.pays_back_days) : Json()}});
    return 0;
  }
  print(table({"family", "promoted", "spent h", "predicted", "realised", "runs h/day",
               "saves h/day", "per month"},
              rows));
  print(
      fmt::format("\nSpent {} accelerator-hours (${:.2f}) on finding out; saves {} a day (${:.2f} "
                  "a month at ${}/h).",
                  show_number(roi.spent_accelerator_h), roi.spent_accelerator_h * roi.price,
                  show_number(roi.saved_accelerator_h_per_day),
                  30 * roi.saved_accelerator_h_per_day * roi.price, roi.price));
  if (roi.pays_back_days) print(fmt::format(" Pays back in {:.1f} days.", *roi.pays_back_days));
  print("\n");
  return 0;
}

}  // namespace amdahl::cli
