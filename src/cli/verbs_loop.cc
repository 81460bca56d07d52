#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/loop.h"
#include "app/canary.h"
#include "app/cycle.h"
#include "app/door.h"
#include "app/promote.h"
#include "app/stack.h"
#include "app/status.h"
#include "app/work.h"
#include "base/amount.h"
#include "base/count.h"
#include "base/text.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace amdahl::cli {
namespace {

std::string progress_text(const app::Ticker& t) {
  return fmt::format("[{}{}] {} live, {} in flight, {}, {} promoted  {}", show_duration(t.elapsed),
                     t.left ? fmt::format(", about {} left", show_duration(*t.left)) : "", t.live,
                     t.in_flight, counted(t.verdicts, "verdict"), t.promoted, t.doing);
}

int cycle_exit(const app::CycleSummary& summary) {
  if (summary.stopped_because == "budget") return 4;
  if (summary.stopped_because == "interrupted") return 130;
  return summary.skipped.empty() ? 0 : 3;
}

std::string cycle_text(const app::CycleSummary& s) {
  std::string text = fmt::format("{} ended, {} submitted, {} promoted",
                                 counted(s.ended_runs, "run"), s.submitted, s.promoted);
  if (s.asked + s.answers > 0) {
    text +=
        fmt::format("; {} to models asked, {} settled", counted(s.asked, "question"), s.answers);
  }
  if (s.waiting_at_gate > 0) {
    text += fmt::format("; {} wait{} at the gate: amdahl gate list", s.waiting_at_gate,
                        s.waiting_at_gate == 1 ? "s" : "");
  }
  if (s.held > 0) text += fmt::format("; {} on hold: needs more evidence", s.held);
  if (s.parked > 0) text += fmt::format("; {} parked: amdahl status", s.parked);
  if (s.settled) text += "; nothing is left to do";
  for (const auto& [family, reason] : s.skipped) {
    text += fmt::format("; {} was skipped: {}", family, reason);
  }
  if (s.stopped_because == "interrupted") {
    text += "; interrupted: runs in flight continue, and the next cycle collects them";
  } else if (!s.stopped_because.empty()) {
    text += fmt::format("; stopped: {}", s.stopped_because);
  }
  return text + "\n";
}

std::int64_t tally(const app::Status& status, const std::string& name) {
  const auto it = status.tallies.find(name);
  return it == status.tallies.end() ? 0 : it->second;
}

std::string next_text(const app::NextWork& next) {
  std::string text =
      fmt::format("Next      {}{}\n", next.family, (next.family.empty() ? "" : ": ") + next.why);
  if (!next.then.empty()) text += fmt::format("          then {}\n", join(next.then, ", "));
  return text;
}

void print_status_head(const app::Status& s) {
  print(fmt::format("State     {}\n", s.state_dir));
  std::string verdicts;
  for (const auto& [name, count] : s.tallies) {
    if (!name.starts_with("verdict.") || count == 0) continue;
    verdicts += fmt::format("{}{} {}", verdicts.empty() ? "" : ", ", count, name.substr(8));
  }
  print(fmt::format("Verdicts  {}\n", verdicts.empty() ? "none yet" : verdicts));
  const auto& experiments = s.snapshot.experiments.state().experiments;
  const auto parked = std::ranges::count_if(experiments, &loop::ExperimentState::parked);
  print(fmt::format("Live      {}, {} under test{}, {} in flight\n",
                    counted(tally(s, "hypothesis.live"), "hypothesis", "hypotheses"),
                    static_cast<std::ptrdiff_t>(experiments.size()) - parked,
                    parked > 0 ? fmt::format(", {} parked", parked) : "",
                    counted(static_cast<std::int64_t>(s.snapshot.in_flight.size()), "run")));
  if (s.campaign) {
    print(
        fmt::format("Campaign  {}: {} of {} registered, {} promoted, at most {} of the promotions "
                    "false; the next needs E = {:.0f}\n",
                    s.campaign->id, s.campaign->registered, s.campaign->k, s.campaign->promoted,
                    show_percent(s.campaign->alpha), s.e_needed));
  }
  for (const ledger::Budget& b : s.budgets) print(fmt::format("Budget    {}\n", describe(b)));
  if (tally(s, "canary.open") + tally(s, "canary.rollback proposed") > 0) {
    print(fmt::format("Canaries  {} open, {} propose to roll back: amdahl canary\n",
                      tally(s, "canary.open"), s.rollbacks.size()));
  }
  if (s.choice) print(next_text(app::next_work(*s.choice)));
  if (s.lease) {
    print(fmt::format("Lease     {} on {}, since {} UTC\n", s.lease->holder, s.lease->host,
                      describe_time(s.lease->taken)));
  }
}

std::string proposals_text(const std::vector<ledger::CanaryRow>& rows) {
  std::string text;
  for (const ledger::CanaryRow& row : rows) {
    text += fmt::format("\nThe canary of {} ({}) proposes to roll it back: {}\n  {}\n",
                        row.canary.hypothesis, row.canary.family, row.reason,
                        app::rollback_hint(row.canary.hypothesis));
  }
  return text;
}

// What each family has, and where nothing has yet, what to type next.
std::string show_families(const app::Status& s) {
  const loop::State& state = s.snapshot.experiments.state();
  if (state.families.empty()) {
    return "\nNo family has been adopted yet; type: amdahl run --family NAME -- CMD, then amdahl "
           "adopt last\n";
  }
  std::vector<std::vector<std::string>> rows;
  for (const loop::FamilyState& f : state.families) {
    const auto queued = std::ranges::count(state.queued, f.name, &loop::Queued::family);
    const auto tested =
        std::ranges::count(state.experiments, f.name, &loop::ExperimentState::family);
    rows.push_back({f.name, f.profiled ? "yes" : (f.profiling ? "under way" : "no"),
                    std::to_string(f.same_pairs), std::to_string(queued), std::to_string(tested),
                    std::to_string(s.snapshot.families.at(f.name).stack.size()),
                    show_hours(f.volume_accelerator_h_per_day)});
  }
  return "\n" + table({"family", "profiled", "A/A pairs", "queued", "under test", "promoted",
                       "uses a day"},
                      rows);
}

}  // namespace

Result<int> do_cycle(const CycleFlags& flags) {
  if (flags.until != "settled" && flags.until != "first-win" && flags.until != "never") {
    return bad_input(
        fmt::format("--until must be settled, first-win or never, not '{}'", flags.until));
  }
  app::Overrides overrides;
  overrides.gate_policy = flags.gate_policy;
  if (flags.slots != 0) overrides.slots = flags.slots;
  overrides.launcher = flags.launcher;
  app::Context context = TRY(context_for(flags, true, std::move(overrides)));
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
    print_json(api::cycle(summary));
  } else {
    print(cycle_text(summary));
  }
  return cycle_exit(summary);
}

Result<int> do_work(const WorkFlags& flags) {
  if (!(flags.idle >= 0)) return bad_input("--idle must be at least 0 seconds");
  app::Overrides overrides;
  overrides.launcher = flags.launcher;
  app::Context context = TRY(context_for(flags, false, std::move(overrides)));
  catch_interrupts();
  app::WorkOptions options;
  if (flags.idle > 0) options.idle = from_seconds(flags.idle);
  options.stopped = interrupted;
  options.say = [&](const std::string& text) {
    if (!flags.quiet) tell(text);
  };
  const app::WorkSummary summary = TRY(app::run_work(context, options));
  if (flags.json) {
    print_json(api::work(summary));
  } else {
    print(fmt::format("{} collected ({} built), {} asked, {} given back\n",
                      counted(summary.collected, "run"), summary.built,
                      counted(summary.asked, "question"), summary.given_up));
  }
  return 0;
}

Result<int> do_status(const Flags& flags) {
  app::Context context = TRY(context_for(flags, false));
  if (flags.json) {
    print_json(TRY(api::status(context)));
    return 0;
  }
  const app::Status status = TRY(app::read_status(context));
  print_status_head(status);
  std::vector<std::vector<std::string>> rows;
  for (const loop::ExperimentState& x : status.snapshot.experiments.state().experiments) {
    rows.push_back({x.hypothesis, x.family,
                    status.snapshot.experiments.hypothesis(x.hypothesis).title,
                    std::string(x.parked ? "parked" : name(x.stage)),
                    describe(status.snapshot.experiments.comparison(x.id))});
  }
  if (!rows.empty()) {
    print("\n" + table({"hypothesis", "family", "title", "stage", "saves"}, rows));
  }
  for (const loop::ExperimentState& x : status.snapshot.experiments.state().experiments) {
    if (x.stage == model::Stage::kHold) {
      print(fmt::format("{0} is held; what is missing: amdahl ledger show {0}\n", x.hypothesis));
    }
    if (!x.parked) continue;
    print(fmt::format("{} is parked, no verdict: {}\n", x.hypothesis,
                      what_settles(app::parked_of(status.snapshot.experiments, x))));
  }
  print(show_families(status));
  if (!status.pending.empty()) {
    print(fmt::format("\n{} for a person: amdahl gate list\n",
                      status.pending.size() == 1
                          ? "1 claim waits"
                          : fmt::format("{} claims wait", status.pending.size())));
  }
  print(proposals_text(status.rollbacks));
  return 0;
}

namespace {

Result<int> gate_list(const Flags& flags, app::Context& context) {
  if (flags.json) {
    print_json(TRY(api::gate(context)));
    return 0;
  }
  const app::GateList gate = TRY(app::read_gate(context));
  std::vector<std::vector<std::string>> lines;
  for (const ledger::GateRow& row : gate.rows) {
    lines.push_back({row.packet.hypothesis, row.packet.family, row.state,
                     describe(row.packet.comparison), row.decision.actor});
  }
  if (lines.empty()) {
    print("Nothing has reached the gate yet; see: amdahl status\n");
  } else {
    print(table({"hypothesis", "family", "state", "saves", "by"}, lines));
  }
  print(proposals_text(gate.rollbacks));
  return 0;
}

}  // namespace

Result<int> do_gate(const GateFlags& flags) {
  if (flags.words.empty() || flags.words.front() == "list") {
    app::Context context = TRY(context_for(flags, false));
    return gate_list(flags, context);
  }
  const std::string& what = flags.words.front();
  const bool decides = what == "approve" || what == "reject" || what == "rollback";
  if ((!decides && what != "show") || flags.words.size() != 2) {
    return bad_input(
        "gate needs one of: list, show ID, approve ID --reason TEXT, reject ID --reason TEXT "
        "or rollback ID --reason TEXT");
  }
  app::Context context = TRY(context_for(flags, false));
  const std::string& id = flags.words[1];
  if (what == "show") {
    if (flags.json) {
      print_json(TRY(api::gate_item(context, id)));
    } else {
      const ledger::GateRow row = TRY(app::find_gate(context, id));
      print(show_packet(flags, row,
                        TRY(app::attacks_on(context, row.packet.family, row.packet.experiment))));
    }
    return 0;
  }
  const api::Decision decision{id, app::user_or(flags.as), flags.reason};
  print_outcome(flags, TRY(what == "approve"  ? api::approve(context, decision)
                           : what == "reject" ? api::reject(context, decision)
                                              : api::roll_back(context, decision)));
  return 0;
}

Result<int> do_stack(const StackFlags& flags) {
  app::Context context = TRY(context_for(flags, false));
  std::vector<model::StackResult> results;
  if (flags.show) {
    results = TRY(app::latest_stacks(context));
  } else {
    if (flags.words.empty()) return bad_input("stack needs a family; type: amdahl stack --help");
    catch_interrupts();
    app::StackOptions options;
    if (flags.pairs > 0) options.pairs = flags.pairs;
    options.stopped = interrupted;
    options.say = [](const std::string& line) { tell(line); };
    for (const std::string& family : flags.words) {
      results.push_back(TRY(app::measure_stack(context, family, options)));
    }
  }
  if (flags.json) {
    print_json(api::stacks(results));
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  for (const model::StackResult& r : results) {
    rows.push_back(
        {r.family, std::to_string(r.changes), show_duration(from_seconds(r.original_cost)),
         show_duration(from_seconds(r.stack_cost)), r.work_unit, describe(r.comparison)});
  }
  print("Accelerator time\n");
  print(table({"family", "changes", "original", "stack", "per", "saves"}, rows));
  return 0;
}

}  // namespace amdahl::cli
