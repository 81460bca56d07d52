#include "app/reconcile.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/budget.h"
#include "app/job_profile.h"
#include "app/pairs.h"
#include "app/propose.h"
#include "base/text.h"
#include "compare/compare.h"
#include "model/codec.h"
#include "model/plan.h"
#include "os/fault.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

// A worker takes its claim within a moment of its start; one that has not by now never will.
constexpr Nanos kStartsWithin = std::chrono::seconds(10);

Nanos cpu_of(const model::Receipt& receipt) { return receipt.cpu_user + receipt.cpu_system; }

struct Collector {
  Context& context;
  std::int64_t fence;
  const Say& say;

  Result<> keep(const model::Pair& run, const std::string& kind, Json payload,
                std::vector<ledger::Draft> more = {}) {
    std::vector<ledger::Draft> drafts{{kind, "cycle", run.reservation, std::move(payload)}};
    drafts.insert(drafts.end(), more.begin(), more.end());
    os::fault_point("cycle.collect");
    TRY(context.ledger->append(drafts, fence));
    return Ok{};
  }

  // What the ledger charges for a run, with `more` to say of it.
  Json charged(AcceleratorSeconds time, Nanos cpu, Json more) const {
    more["spent_accelerator_s"] = time.count();
    more["spent"]["usd"] = bill(context.config, time, cpu).count();
    return more;
  }

  Result<> lose(const model::Pair& run, const std::string& reason) {
    say(fmt::format("{}: {} is void: {}", run.family, run.reservation, reason));
    return keep(run, "run.voided", {{"spent_accelerator_s", 0.0}, {"reason", reason}});
  }

  Result<> take_pair(const model::Pair& run, const launch::Receipts& receipts) {
    const ledger::Family family = TRY(context.ledger->family(run.family));
    model::PairFact fact = fact_of(run, family.spec, receipts);
    if (fact.purpose == model::Purpose::kSame) fact.target = place_of(context);
    // A block's baseline is paid for by the pair that leads it.
    const bool pays_for_a = fact.block.empty();
    AcceleratorSeconds time{(pays_for_a ? fact.a.cost : 0) + fact.b.cost};
    Nanos cpu = from_seconds((pays_for_a ? fact.a.cpu_s : 0) + fact.b.cpu_s);
    if (receipts.whole) {  // Start-up and warm-up are no arm's, but were paid for.
      time = cost(*receipts.whole);
      cpu = cpu_of(*receipts.whole);
    }
    if (fact.voided) {
      say(fmt::format("{}: pair {} is void: {}", run.family, run.index, fact.void_reason));
      return keep(run, "run.voided",
                  charged(time, cpu, {{"reason", fact.void_reason}, {"fact", encode(fact)}}));
    }
    const auto d = compare::log_ratio(fact, family.spec);
    say(fmt::format("{}: {} pair {}: A {:.2f}, B {:.2f} accelerator-seconds ({:+.1f} %), {} first",
                    run.family, text_of(run.aim), run.index, fact.a.cost, fact.b.cost,
                    100 * (1 - std::exp(-d.value_or(0))), run.variant_second ? "A" : "B"));
    return keep(run, "run.collected", charged(time, cpu, {{"fact", encode(fact)}}));
  }

  Result<> take_profile(const model::Pair& run, const launch::Receipts& receipts) {
    if (!receipts.a) return lose(run, receipts.problem);
    const model::Receipt& receipt = *receipts.a;
    AcceleratorSeconds time = cost(receipt);
    Nanos cpu = cpu_of(receipt);
    if (receipts.b) {
      time += cost(*receipts.b);
      cpu += cpu_of(*receipts.b);
    }
    if (!succeeded(receipt)) {
      const std::string reason =
          fmt::format("the run to be profiled failed: {}", describe_ending(receipt));
      say(fmt::format("{}: {}", run.family, reason));
      return keep(run, "run.voided", charged(time, cpu, {{"reason", reason}}));
    }
    const ledger::Family family = TRY(context.ledger->family(run.family));
    const Collected collected = collected_in(receipts.out_b);
    const JobProfile joined =
        join_collected(spec_of_run(family.spec, collected), receipt, collected, family.baseline);
    for (const std::string& problem : joined.problems) say(run.family + ": " + problem);
    model::Profile profile = joined.profile;
    profile.id = run.reservation;
    profile.family = run.family;
    profile.at = context.clock->unix_time();
    profile.baseline = digest(TRY(make_plan(family.spec, family.baseline)));
    ProposeOutcome ideas = TRY(propose_from(context, family, profile, joined.findings));
    ideas.drafts.insert(ideas.drafts.begin(),
                        {"profile.recorded", "cycle", run.family, encode(profile)});
    TRY(keep(run, "run.collected", charged(time, cpu, {{"fact", nullptr}}), ideas.drafts));
    say(fmt::format("{}: bottleneck {}: {}", run.family, name(profile.bottleneck), profile.rule));
    if (!joined.findings.empty()) {
      const profile::Finding& first = joined.findings.front();
      say(fmt::format("{}: {}:{}: {}; {}", run.family, first.code.file, first.code.line,
                      first.code.finds, first.because));
    }
    say(fmt::format(
        "{}: {} new hypothes{}{}", run.family, ideas.fresh.size(),
        ideas.fresh.size() == 1 ? "is" : "es",
        ideas.withdrawn.empty() ? "" : fmt::format(", {} withdrawn", ideas.withdrawn.size())));
    if (!ideas.untestable.empty()) say(run.family + ": " + ideas.untestable);
    if (const std::string known = describe_known(ideas.known); !known.empty()) {
      say(fmt::format("{}: {}", run.family, known));
    }
    return Ok{};
  }
};

// Never started: the reservation is there, so hand it over again. Only one worker will run it.
Result<> submit_again(Context& context, const model::Pair& run, Submitted& submitted,
                      std::int64_t fence, const Say& say) {
  const Nanos now = context.clock->monotonic();
  const auto last = submitted.find(run.reservation);
  if (last != submitted.end() && now - last->second < kStartsWithin) return Ok{};
  const Json stored = TRY(parse_json(run.request));
  const launch::PairRequest request = TRY(launch::decode_request(stored));
  const std::string worker = TRY(context.launcher->submit(request));
  submitted[run.reservation] = now;
  say(fmt::format("{}: {} had not started; handed over again", run.family, run.reservation));
  if (run.state == model::PairState::kReserved) {
    TRY(note(context, {"run.submitted", "cycle", run.reservation, {{"worker_run_id", worker}}},
             fence));
  }
  return Ok{};
}

}  // namespace

namespace {

// A crash came between the two: adopt it.
Result<> adopt(Context& context, const model::Pair& run, std::int64_t fence, const Say& say) {
  if (run.state != model::PairState::kReserved) return Ok{};
  const std::string worker =
      TRY(context.launcher->worker_of(run.block.empty() ? run.reservation : run.block));
  const std::string id = run.block.empty() ? worker : shared_worker(worker, run.arm);
  TRY(note(context, {"run.submitted", "cycle", run.reservation, {{"worker_run_id", id}}}, fence));
  say(fmt::format("{}: adopted {}", run.family, run.reservation));
  return Ok{};
}

}  // namespace

Result<int> reconcile(Context& context, Submitted& submitted, std::int64_t fence, const Say& say) {
  Collector collector{context, fence, say};
  int ended = 0;
  const std::vector<model::Pair> runs = TRY(context.ledger->runs_in_flight());
  for (const model::Pair& run : runs) {
    const std::string& block = run.block;
    const std::string& place = block.empty() ? run.reservation : block;
    switch (TRY(context.launcher->poll(place))) {
      case launch::RunState::kRunning:
        TRY(adopt(context, run, fence, say));
        break;
      case launch::RunState::kUnknown:
        if (block.empty()) {
          TRY(submit_again(context, run, submitted, fence, say));
        } else if (std::ranges::find(runs, block, &model::Pair::reservation) == runs.end()) {
          TRY(collector.lose(run, "the block it belongs to never ran"));
          ++ended;
        }
        break;
      case launch::RunState::kLost:
        TRY(collector.lose(run, "its worker died without leaving receipts"));
        ++ended;
        break;
      case launch::RunState::kFinished: {
        const launch::Receipts receipts = TRY(context.launcher->collect(place));
        TRY(run.aim.purpose == model::Purpose::kProfile ? collector.take_profile(run, receipts)
                                                        : collector.take_pair(run, receipts));
        ++ended;
        break;
      }
    }
  }
  return ended;
}

}  // namespace amdahl::app
