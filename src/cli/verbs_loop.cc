#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cycle.h"
#include "app/promote.h"
#include "app/stack.h"
#include "app/status.h"
#include "base/text.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "model/codec.h"
#include "os/host.h"

namespace amdahl::cli {
namespace {

std::string progress_text(const app::Ticker& t) {
  return fmt::format("[{}{}] {} live, {} in flight, {} verdicts, {} promoted  {}",
                     show_duration(t.elapsed),
                     t.left ? fmt::format(", about {} left", show_duration(*t.left)) : "", t.live,
                     t.in_flight, t.verdicts, t.promoted, t.doing);
}

int cycle_exit(const app::CycleSummary& summary) {
  if (summary.stopped_because == "budget") return 4;
  return summary.stopped_because == "interrupted" ? 130 : 0;
}

std::string cycle_text(const app::CycleSummary& s) {
  std::string text = fmt::format("{} runs ended, {} submitted, {} promoted", s.ended_runs,
                                 s.submitted, s.promoted);
  if (s.waiting_at_gate > 0) {
    text += fmt::format("; {} wait at the gate: amdahl gate list", s.waiting_at_gate);
  }
  if (s.held > 0) text += fmt::format("; {} held for want of evidence", s.held);
  if (s.settled) text += "; all is settled";
  if (s.stopped_because == "interrupted") {
    text += "; interrupted: runs in flight go on, the next cycle takes them";
  } else if (!s.stopped_because.empty()) {
    text += fmt::format("; stopped: {}", s.stopped_because);
  }
  return text + "\n";
}

Json json_of(const app::CycleSummary& s) {
  return {{"schema_version", 1},      {"ended_runs", s.ended_runs},
          {"submitted", s.submitted}, {"promoted", s.promoted},
          {"settled", s.settled},     {"waiting_at_gate", s.waiting_at_gate},
          {"held", s.held},           {"stopped_because", s.stopped_because}};
}

std::int64_t tally(const app::Status& status, const std::string& name) {
  const auto it = status.tallies.find(name);
  return it == status.tallies.end() ? 0 : it->second;
}

void print_status_head(const app::Status& s) {
  print(fmt::format("State     {}\n", s.state_dir));
  std::string verdicts;
  for (const auto& [name, count] : s.tallies) {
    if (!name.starts_with("verdict.") || count == 0) continue;
    verdicts += fmt::format("{}{} {}", verdicts.empty() ? "" : ", ", count, name.substr(8));
  }
  print(fmt::format("Verdicts  {}\n", verdicts.empty() ? "none yet" : verdicts));
  print(fmt::format("Live      {} hypotheses, {} under test, {} runs in flight\n",
                    tally(s, "hypothesis.live"), s.snapshot.desk.state().experiments.size(),
                    s.snapshot.in_flight.size()));
  if (s.campaign) {
    print(
        fmt::format("Campaign  {}: {} of {} registered, {} promoted, at most {} of the promotions "
                    "false; the next needs E = {:.0f}\n",
                    s.campaign->id, s.campaign->registered, s.campaign->k, s.campaign->promoted,
                    show_percent(s.campaign->alpha),
                    std::exp(loop::promotion_level(s.snapshot.desk.state()))));
  }
  for (const ledger::Budget& b : s.budgets) print(fmt::format("Budget    {}\n", describe(b)));
  if (s.lease) {
    print(fmt::format("Lease     {} on {}, since {} UTC\n", s.lease->holder, s.lease->host,
                      describe_time(s.lease->taken)));
  }
}

Json json_of(const app::Status& s) {
  Json experiments = Json::array();
  for (const loop::ExperimentState& x : s.snapshot.desk.state().experiments) {
    experiments.push_back({{"id", x.id},
                           {"hypothesis", x.hypothesis},
                           {"family", x.family},
                           {"stage", x.stage},
                           {"in_flight", x.in_flight + x.top_up_in_flight},
                           {"comparison", encode(s.snapshot.desk.comparison(x.id))}});
  }
  Json families = Json::array();
  for (const loop::FamilyState& f : s.snapshot.desk.state().families) {
    families.push_back({{"family", f.name},
                        {"profiled", f.profiled},
                        {"same_pairs", f.same_pairs},
                        {"volume_accelerator_h_per_day", f.volume_accelerator_h_per_day}});
  }
  Json doc = {{"schema_version", 1},
              {"state_dir", s.state_dir},
              {"tallies", s.tallies},
              {"experiments", experiments},
              {"families", families},
              {"queued", s.snapshot.desk.state().queued.size()},
              {"in_flight", s.snapshot.in_flight.size()},
              {"pending_at_gate", s.pending.size()}};
  for (const ledger::Budget& b : s.budgets) {
    doc["budgets"][b.resource] = {{"limit", b.limit ? Json(*b.limit) : Json()},
                                  {"committed", b.committed},
                                  {"spent", b.spent},
                                  {"overrun", b.overrun}};
  }
  if (s.lease) doc["lease"] = {{"holder", s.lease->holder}, {"host", s.lease->host}};
  return doc;
}

}  // namespace

Result<int> do_cycle(const Flags& flags) {
  if (flags.until != "settled" && flags.until != "first-win" && flags.until != "never") {
    return bad_input(
        fmt::format("--until must be settled, first-win or never, not '{}'", flags.until));
  }
  app::Context context = TRY(context_for(flags, true));
  catch_interrupts();
  ProgressLine line(flags);
  app::CycleOptions options;
  options.watch = flags.watch;
  options.until = flags.until;
  options.refresh = flags.refresh;
  options.stopped = interrupted;
  options.say = [&](const std::string& text) {
    if (!flags.quiet) line.say(text);
  };
  options.tick = [&](const app::Ticker& ticker) {
    if (!flags.quiet) line.show(progress_text(ticker));
  };
  const app::CycleSummary summary = TRY(app::run_cycle(context, options));
  if (flags.json) {
    print_json(json_of(summary));
  } else {
    print(cycle_text(summary));
  }
  return cycle_exit(summary);
}

Result<int> do_status(const Flags& flags) {
  app::Context context = TRY(context_for(flags, false));
  const app::Status status = TRY(app::read_status(context));
  if (flags.json) {
    print_json(json_of(status));
    return 0;
  }
  print_status_head(status);
  std::vector<std::vector<std::string>> rows;
  for (const loop::ExperimentState& x : status.snapshot.desk.state().experiments) {
    rows.push_back({x.hypothesis, x.family, status.snapshot.desk.hypothesis(x.hypothesis).title,
                    x.stage, describe(status.snapshot.desk.comparison(x.id))});
  }
  if (!rows.empty()) {
    print("\n" + table({"hypothesis", "family", "title", "stage", "saves"}, rows));
  }
  if (!status.pending.empty()) {
    print(fmt::format("\n{} wait for a person: amdahl gate list\n", status.pending.size()));
  }
  return 0;
}

namespace {

Result<int> gate_list(const Flags& flags, app::Context& context) {
  const std::vector<ledger::GateRow> rows = TRY(context.ledger->gate(""));
  if (flags.json) {
    Json list = Json::array();
    for (const ledger::GateRow& row : rows) {
      list.push_back({{"state", row.state},
                      {"packet", encode(row.packet)},
                      {"decision", encode(row.decision)}});
    }
    print_json({{"schema_version", 1}, {"gate", list}});
    return 0;
  }
  std::vector<std::vector<std::string>> lines;
  for (const ledger::GateRow& row : rows) {
    lines.push_back({row.packet.hypothesis, row.packet.family, row.state,
                     describe(row.packet.comparison), row.decision.actor});
  }
  if (lines.empty()) {
    print("Nothing has come to the gate yet.\n");
  } else {
    print(table({"hypothesis", "family", "state", "saves", "by"}, lines));
  }
  return 0;
}

}  // namespace

Result<int> do_gate(const Flags& flags) {
  if (flags.words.empty() || flags.words.front() == "list") {
    app::Context context = TRY(context_for(flags, false));
    return gate_list(flags, context);
  }
  const std::string& what = flags.words.front();
  const bool decides = what == "approve" || what == "reject" || what == "rollback";
  if ((!decides && what != "show") || flags.words.size() != 2) {
    return bad_input(
        "gate wants: list, show ID, approve ID --reason TEXT, reject ID --reason TEXT "
        "or rollback ID --reason TEXT");
  }
  app::Context context = TRY(context_for(flags, false));
  const model::GateDecision decision{what == "approve",
                                     flags.as.empty() ? os::user_name() : flags.as, flags.reason};
  std::string outcome;
  if (what == "rollback") {
    outcome = TRY(app::roll_back(context, flags.words[1], decision.actor, decision.reason));
  } else {
    const ledger::GateRow row = TRY(app::find_gate(context, flags.words[1]));
    if (what == "show") {
      if (flags.json) {
        print_json({{"state", row.state}, {"packet", encode(row.packet)}});
      } else {
        print(show_packet(flags, row));
      }
      return 0;
    }
    outcome = TRY(app::decide(context, row, decision));
  }
  if (flags.json) {
    print_json({{"schema_version", 1}, {"outcome", outcome}});
  } else {
    print(outcome + "\n");
  }
  return 0;
}

Result<int> do_stack(const Flags& flags) {
  app::Context context = TRY(context_for(flags, false));
  std::vector<model::StackResult> results;
  if (flags.show) {
    results = TRY(app::latest_stacks(context));
  } else {
    if (flags.words.empty()) return bad_input("stack wants a family; type: amdahl stack --help");
    catch_interrupts();
    app::StackOptions options;
    if (flags.pairs > 0) options.pairs = flags.pairs;
    options.stopped = interrupted;
    options.say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
    for (const std::string& family : flags.words) {
      results.push_back(TRY(app::measure_stack(context, family, options)));
    }
  }
  if (flags.json) {
    Json list = Json::array();
    for (const model::StackResult& r : results) list.push_back(encode(r));
    print_json({{"schema_version", 1}, {"stacks", list}});
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  for (const model::StackResult& r : results) {
    rows.push_back({r.family, std::to_string(r.changes), show_number(r.original_cost),
                    show_number(r.stack_cost), r.work_unit, describe(r.comparison)});
  }
  print(table({"family", "changes", "original", "stack", "accel-s per", "saves"}, rows));
  return 0;
}

}  // namespace amdahl::cli
