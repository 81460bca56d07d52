#include "oracle.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cheats.h"
#include "ledger/event.h"
#include "model/codec.h"
#include "os/files.h"
#include "turn.h"

namespace amdahl::adversary {
namespace {

constexpr double kLargeWin = 0.10;  // Share of the cost saved.

struct Oracle {
  const Scenario& scenario;
  World& world;
  ledger::Ledger& ledger;
  bool settled;
  bool flipped;
  Story& story;

  void complain(std::string_view kind, const std::string& what) {
    story.violations.push_back(fmt::format("{}: {}", kind, what));
  }

  const Variant* variant_of(const std::string& title) const {
    const auto it = std::ranges::find(scenario.variants, title, &Variant::title);
    return it == scenario.variants.end() ? nullptr : &*it;
  }

  Result<> store() {
    const ledger::VerifyReport report = TRY(ledger.verify());
    if (report.ok()) return Ok{};
    complain("ledger",
             fmt::format("bad event {}; {}", report.bad_event, join(report.differences, "; ")));
    return Ok{};
  }

  // Each reservation has one fate, and whatever ran was reserved.
  Result<> runs() {
    std::map<std::string, int> fates;
    std::set<std::string> collected;
    std::set<std::string> shares;  // Of a block's run: they have no folder of their own.
    double charged = 0;
    TRY(ledger.each_event(0, [&](const ledger::Event& event) {
      if (event.kind == "run.reserved") {
        fates.emplace(event.subject, 0);
        const Json& request = event.payload.at("request");
        if (request.contains("block")) shares.insert(event.subject);
      }
      if (event.kind != "run.collected" && event.kind != "run.voided") return true;
      ++fates[event.subject];
      if (event.kind == "run.collected") collected.insert(event.subject);
      charged += event.payload.value("spent_accelerator_s", 0.0);
      return true;
    }));
    const std::size_t open = TRY(ledger.runs_in_flight()).size();
    for (const auto& [reservation, ends] : fates) {
      if (ends > 1) complain("doubled", fmt::format("{} ended {} times", reservation, ends));
      if (ends == 0 && settled) complain("lost", reservation + " never ended");
    }
    if (settled && open > 0) complain("lost", fmt::format("{} runs in flight at rest", open));
    if (scenario.real) return Ok{};
    std::int64_t executed = 0;
    for (const std::string& name : os::list(scenario.config.state_dir + "/runs")) {
      const auto fate =
          os::read_file(fmt::format("{}/runs/{}/fate.json", scenario.config.state_dir, name));
      if (!fate) continue;
      const bool ours = TRY(parse_json(*fate)).value("ledger", 0) == world.ledger;
      executed += ours ? 1 : 0;
      if (ours && !fates.contains(name)) complain("lost", name + " ran and was never reserved");
      if (!ours && collected.contains(name) && !shares.contains(name)) {
        complain("lost", name + " is another ledger's run");
      }
    }
    if (executed != world.executions) {
      complain("doubled", fmt::format("{} runs began in {} folders", world.executions, executed));
    }
    if (world.resubmitted > 0) {
      complain("doubled",
               fmt::format("{} runs were handed over after their end", world.resubmitted));
    }
    return money(charged, open);
  }

  Result<> money(double charged, std::size_t open) {
    for (const ledger::Budget& budget : TRY(ledger.budgets())) {
      if (open == 0 && std::abs(budget.committed) > 1e-6) {
        complain("money", fmt::format("{} {} committed and nothing in flight", budget.committed,
                                      budget.resource));
      }
      const double all = budget.spent + budget.overrun;
      if (budget.resource == "accelerator_s" && std::abs(all - charged) > 1e-6 * (1 + charged)) {
        complain("money", fmt::format("{} spent by the budget, {} by the runs", all, charged));
      }
      if (budget.limit && budget.committed + budget.spent > *budget.limit * (1 + 1e-9)) {
        complain("money", fmt::format("{} of {} {}", budget.committed + budget.spent, *budget.limit,
                                      budget.resource));
      }
    }
    if (open == 0 && charged < 0.9 * world.used_s) {
      complain("money", fmt::format("{:.0f} accelerator-seconds were used and {:.0f} charged",
                                    world.used_s, charged));
    }
    return Ok{};
  }

  // Whatever was ever promoted, also if it was rolled back since.
  Result<> promotions() {
    std::vector<model::Verdict> promoted;
    TRY(ledger.each_event(0, [&](const ledger::Event& event) {
      if (event.kind != "verdict.recorded") return true;
      const auto verdict = model::decode<model::Verdict>(event.payload);
      if (verdict && verdict->kind == model::VerdictKind::kPromoted) promoted.push_back(*verdict);
      return true;
    }));
    for (const model::Verdict& verdict : promoted) {
      const ledger::HypothesisRow row = TRY(ledger.hypothesis(verdict.hypothesis));
      const Variant* variant = variant_of(row.hypothesis.title);
      if (!variant) continue;
      const double claim = verdict.comparison ? verdict.comparison->shrunk : 0;
      const double truth = true_effect(*variant);
      if (sound(*variant) && truth >= claim / 2) continue;
      complain("false promotion",
               fmt::format("{} at {:+.3f} of {} pairs, truly {:+.3f}", variant->title, claim,
                           verdict.comparison ? verdict.comparison->pairs : 0, truth));
    }
    return Ok{};
  }

  bool excused() const {
    const Mistake& mistake = mistakes()[static_cast<std::size_t>(scenario.mistake)];
    return mistake.holds || flipped || scenario.config.budget_usd || !settled || scenario.real;
  }

  Result<Ending> ending_of(const ledger::HypothesisRow& row) {
    Ending ending{row.hypothesis.title, false, row.state, ""};
    if (const auto verdict = TRY(ledger.verdict(row.hypothesis.id))) {
      ending.because = verdict->reason;
    }
    if (row.state != "live") return ending;
    ending.state = "queued";
    for (const ledger::ExperimentRow& x : TRY(ledger.live_experiments())) {
      if (x.experiment.hypothesis != row.hypothesis.id) continue;
      ending.state = x.stage == model::Stage::kGate                 ? "at the gate"
                     : x.stage == model::Stage::kHold               ? "held"
                     : settled && x.stage == model::Stage::kCompare ? "parked"
                                                                    : name(x.stage);
      for (const model::Finding& vote : TRY(ledger.votes(x.experiment.id))) {
        if (vote.vote == model::Vote::kAgree) continue;
        ending.because += fmt::format("{} {}: {}; ", vote.check, name(vote.vote), vote.because);
      }
    }
    return ending;
  }

  // A win is promoted, or there is a reason that is true.
  void honest(const Variant& variant, Ending& ending) {
    if (!variant.honest() || variant.effect < -std::log(1 - kLargeWin)) return;
    if (excused()) return;
    ending.counts = ending.state != "declined";
    const std::set<std::string> fine = {"promoted", "parked",  "held",         "at the gate",
                                        "declined", "aborted", "inconclusive", "reopened"};
    if (fine.contains(ending.state)) return;
    complain("buried", fmt::format("{} is {}: {}", variant.title, ending.state, ending.because));
  }

  Result<> endings() {
    std::map<std::string, Ending> last;
    for (const ledger::HypothesisRow& row : TRY(ledger.hypotheses("", ""))) {
      const Ending ending = TRY(ending_of(row));
      Ending& kept = last[ending.title];
      // One that was proposed again has several; what was promoted, was.
      if (kept.state != "promoted") kept = ending;
    }
    for (auto& [title, ending] : last) {
      if (const Variant* variant = variant_of(title)) honest(*variant, ending);
      story.endings.push_back(ending);
    }
    return Ok{};
  }
};

}  // namespace

Result<> judge(const Scenario& scenario, World& world, bool settled, bool flipped, Story& story) {
  const std::unique_ptr<Stage> stage = TRY(Stage::open(scenario, world));
  Oracle oracle{scenario, world, *stage->context.ledger, settled, flipped, story};
  TRY(oracle.store());
  TRY(oracle.runs());
  TRY(oracle.promotions());
  if (world.second_cycle_ran) oracle.complain("doubled", "a second cycle ran beside the first");
  if (world.alias_accepted)
    oracle.complain("doubled", "-b was taken for another flag than --batch");
  return oracle.endings();
}

}  // namespace amdahl::adversary
