#include "app/reconcile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/budget.h"
#include "app/evidence.h"
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
constexpr int kMostHandings = 3;

Nanos cpu_of(const model::Receipt& receipt) { return receipt.cpu_user + receipt.cpu_system; }

// The run held what its arms need while their trees were built.
void add_build(const launch::Receipts& receipts, AcceleratorSeconds& time, Nanos& cpu) {
  int held = 0;
  for (const auto& arm : {receipts.a, receipts.b}) {
    if (arm) held = std::max(held, arm->accelerators);
  }
  time += Accelerators(held) * receipts.build_wall;
  cpu += receipts.build_cpu;
}

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

  // What a run without receipts cost: of what it reserved, the part of its longest time for which
  // it held its slots; all of it, where that cannot be told.
  Json charged(const model::Pair& run, const launch::RunStatus& status, Json more) const {
    const AcceleratorSeconds reserved{run.reserved_accelerator_s};
    const auto slots = static_cast<int>(run.cpus.size());
    if (!status.elapsed) return charged(reserved, slots * status.arms, std::move(more));
    const double parts = to_seconds(*status.elapsed) / to_seconds(std::max(status.arms, Nanos{1}));
    const Nanos held = from_seconds(std::min(1.0, parts) * to_seconds(status.arms));
    // What was reserved for builds is used only by what takes longer than its arms.
    const double for_arms = reserved.count() - identity_of(run).build_accelerator_s;
    return charged(std::min(reserved, AcceleratorSeconds{for_arms * parts}), slots * held,
                   std::move(more));
  }

  Result<> lose(const model::Pair& run, const launch::RunStatus& status,
                const std::string& reason) {
    say(fmt::format("{}: {} is void: {}", run.family, run.reservation, reason));
    return keep(run, "run.voided", charged(run, status, {{"reason", reason}}));
  }

  // " of 'larger batches'"; nothing for a pair that tests no idea.
  Result<std::string> idea_of(const model::Pair& run) {
    if (run.experiment.empty()) return std::string();
    const ledger::ExperimentRow row = TRY(context.ledger->experiment(run.experiment));
    const ledger::HypothesisRow idea = TRY(context.ledger->hypothesis(row.experiment.hypothesis));
    return fmt::format(" of '{}'", idea.hypothesis.title);
  }

  Result<> take_pair(const model::Pair& run, const launch::RunStatus& status,
                     const launch::Receipts& receipts) {
    const model::Spec spec = TRY(spec_of(context, run));
    model::PairFact fact = fact_of(run, spec, receipts);
    if (fact.purpose == model::Purpose::kSame) fact.target = place_of(context);
    // A block's baseline is paid for by the pair that leads it.
    const bool pays_for_a = fact.block.empty();
    AcceleratorSeconds time{(pays_for_a ? fact.a.cost : 0) + fact.b.cost};
    Nanos cpu = from_seconds((pays_for_a ? fact.a.cpu_s : 0) + fact.b.cpu_s);
    if (receipts.whole) {  // Start-up and warm-up are no arm's, but were paid for.
      time = cost(*receipts.whole);
      cpu = cpu_of(*receipts.whole);
    }
    if (pays_for_a) add_build(receipts, time, cpu);
    if (pays_for_a && !receipts.restored.empty()) {
      say(fmt::format("{}: the receipt of arm {} of {} was changed during the run; the worker wrote "
                      "it again",
                      run.family, join(receipts.restored, ", "), run.reservation));
    }
    if (fact.voided) {
      say(fmt::format("{}: pair {}{} is void: {}", run.family, run.index, TRY(idea_of(run)),
                      fact.void_reason));
      Json why{{"reason", fact.void_reason}, {"fact", encode(fact)}};
      // What was run and has no receipt that counts was paid for all the same.
      const bool is_known = receipts.whole || (receipts.a && receipts.problem.empty());
      return keep(
          run, "run.voided",
          is_known ? charged(time, cpu, std::move(why)) : charged(run, status, std::move(why)));
    }
    const auto d = compare::log_ratio(fact, spec);
    say(fmt::format(
        "{}: {} pair {}{}: A {:.2f}, B {:.2f} accelerator-seconds ({:+.1f} %), {} first",
        run.family, text_of(run.aim), run.index, TRY(idea_of(run)), fact.a.cost, fact.b.cost,
        100 * (1 - std::exp(-d.value_or(0))), run.variant_second ? "A" : "B"));
    return keep(run, "run.collected", charged(time, cpu, {{"fact", encode(fact)}}));
  }

  Result<> take_profile(const model::Pair& run, const launch::RunStatus& status,
                        const launch::Receipts& receipts) {
    if (!receipts.a) return lose(run, status, receipts.problem);
    const model::Receipt& receipt = *receipts.a;
    AcceleratorSeconds time = cost(receipt);
    Nanos cpu = cpu_of(receipt);
    if (receipts.b) {
      time += cost(*receipts.b);
      cpu += cpu_of(*receipts.b);
    }
    add_build(receipts, time, cpu);
    const auto void_it = [&](const std::string& reason) {
      say(fmt::format("{}: {}", run.family, reason));
      return keep(run, "run.voided", charged(time, cpu, {{"reason", reason}}));
    };
    if (!succeeded(receipt)) {
      return void_it(fmt::format("the run to be profiled failed: {}", describe_ending(receipt)));
    }
    const ledger::Family family = TRY(context.ledger->family(run.family));
    if (TRY(spec_of(context, run)) != family.spec) {
      return void_it("its profile is of no use: the family's spec was replaced while it ran");
    }
    const Collected collected = collected_in(receipts.out_b);
    const JobProfile joined =
        join_collected(spec_of_run(family.spec, collected), receipt, collected, family.baseline);
    for (const std::string& problem : joined.problems) say(run.family + ": " + problem);
    model::Profile profile = joined.profile;
    profile.id = run.reservation;
    profile.family = run.family;
    profile.at = context.clock->unix_time();
    const auto plan = make_plan(family.spec, family.baseline);
    if (!plan) return void_it("its profile is of no use: " + plan.error().text);
    profile.baseline = digest(*plan);
    auto proposed = propose_from(context, family, profile, joined.findings);
    if (!proposed && proposed.error().kind == Error::Kind::kBadInput) {
      return void_it("its profile is of no use: " + proposed.error().text);
    }
    ProposeOutcome ideas = TRY(std::move(proposed));
    ideas.drafts.insert(ideas.drafts.begin(),
                        {"profile.recorded", "cycle", run.family, encode(profile)});
    const std::string seen = TRY(write_evidence(context, family, profile, joined));
    TRY(keep(run, "run.collected", charged(time, cpu, {{"fact", nullptr}, {"evidence", seen}}),
             ideas.drafts));
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

bool is_overdue(const launch::RunStatus& status) {
  return status.deadline > Nanos{0} && status.elapsed && *status.elapsed > status.deadline;
}

// One run in flight, and what is to be done about it.
class Visit {
 public:
  Visit(Collector& collector, const model::Pair& run, Handing& handing)
      : collector_{collector},
        context_{collector.context},
        run_{run},
        ref_{ref_of(run)},
        handing_{handing} {}

  // Whether it ended. `leads`: whether the run that it shares, if it does, is in flight too.
  Result<bool> settle(bool leads);

 private:
  Result<bool> lose(const launch::RunStatus& status, const std::string& reason) {
    TRY(collector_.lose(run_, status, reason));
    return true;
  }
  std::string why_lost(const launch::RunStatus& status) const;
  Result<bool> watch(const launch::RunStatus& status);
  Result<> adopt();
  Result<bool> submit_again(const launch::RunStatus& status);
  Result<bool> take(const launch::RunStatus& status);
  Result<bool> take_lost(const launch::RunStatus& status, const std::string& why);

  Collector& collector_;
  Context& context_;
  const model::Pair& run_;
  launch::RunRef ref_;
  Handing& handing_;
};

// A crash came between the two: adopt it.
Result<> Visit::adopt() {
  if (run_.state != model::PairState::kReserved) return Ok{};
  const std::string worker = TRY(context_.launcher->worker_of(ref_));
  const std::string id = run_.block.empty() ? worker : shared_worker(worker, run_.arm);
  TRY(note(context_, {"run.submitted", "cycle", run_.reservation, {{"worker_run_id", id}}},
           collector_.fence));
  collector_.say(fmt::format("{}: adopted {}", run_.family, run_.reservation));
  return Ok{};
}

// It ends by itself long before its deadline, unless its worker is stopped or its job cannot be
// killed. It is asked to end, then made to, and then given up: no wait is for ever.
Result<bool> Visit::watch(const launch::RunStatus& status) {
  TRY(adopt());
  if (!is_overdue(status)) return false;
  const Nanos late = *status.elapsed - status.deadline;
  if (late > 2 * launch::kArmGrace) {
    return take_lost(status, fmt::format("it was not over {} after its deadline of {}, and its "
                                         "worker cannot be ended",
                                         show_duration(late), show_duration(status.deadline)));
  }
  if (late > launch::kArmGrace && !handing_.killed) {
    handing_.killed = true;
    TRY(context_.launcher->kill(ref_));
  } else if (!handing_.cancelled) {
    handing_.cancelled = true;
    collector_.say(fmt::format("{}: {} is not over after {}; ending it", run_.family,
                               run_.reservation, show_duration(*status.elapsed)));
    TRY(context_.launcher->cancel(ref_));
  }
  return false;
}

// Never started: the reservation is there, so hand it over again. Only one worker will run it.
Result<bool> Visit::submit_again(const launch::RunStatus& status) {
  if (!run_.experiment.empty() &&
      TRY(context_.ledger->experiment(run_.experiment)).state == "closed") {
    TRY(context_.launcher->cancel(ref_));
    return lose(status, "it had not started, and its experiment is closed");
  }
  const Nanos now = context_.clock->monotonic();
  if (handing_.times > 0 && now - handing_.last < kStartsWithin) return false;
  // What a cold cycle handed over may be starting still.
  const bool recent = status.elapsed && *status.elapsed < status.handed_over * kStartsWithin;
  if (recent) return false;
  const int times = std::max(handing_.times, status.handed_over);
  if (times >= kMostHandings) {
    TRY(context_.launcher->cancel(ref_));
    return lose(status, fmt::format("it was handed over {} times, and no worker began it", times));
  }
  const auto stored = parse_json(run_.request);
  if (!stored) return lose(status, "its request: " + stored.error().text);
  const auto request = launch::decode_request(*stored);
  if (!request) return lose(status, "its request: " + request.error().text);
  handing_ = {now, times + 1};
  const auto worker = context_.launcher->submit(*request);
  if (!worker) {
    collector_.say(fmt::format("{}: {} could not be handed over: {}", run_.family, run_.reservation,
                               worker.error().text));
    return false;
  }
  collector_.say(
      fmt::format("{}: {} had not started; handed over again", run_.family, run_.reservation));
  if (run_.state == model::PairState::kReserved) {
    TRY(note(context_, {"run.submitted", "cycle", run_.reservation, {{"worker_run_id", *worker}}},
             collector_.fence));
  }
  return false;
}

Result<bool> Visit::take(const launch::RunStatus& status) {
  auto collected = context_.launcher->collect(ref_);
  if (!collected) return lose(status, collected.error().text);
  launch::Receipts receipts = *std::move(collected);
  refuse_mismatch(run_, receipts);
  TRY(run_.aim.purpose == model::Purpose::kProfile ? collector_.take_profile(run_, status, receipts)
                                                   : collector_.take_pair(run_, status, receipts));
  return true;
}

std::string Visit::why_lost(const launch::RunStatus& status) const {
  if (is_overdue(status)) {
    return fmt::format("it was not over by its deadline of {}, and its worker was ended",
                       show_duration(status.deadline));
  }
  return handing_.cancelled ? "it was cancelled" : "the worker died without writing receipts";
}

// Lost to the arm that was under way: a variant must not choose which of its runs are counted.
Result<bool> Visit::take_lost(const launch::RunStatus& status, const std::string& why) {
  auto collected = context_.launcher->collect(ref_);
  const bool is_pair = run_.aim.purpose != model::Purpose::kProfile;
  if (!is_pair || !collected) return lose(status, why);
  launch::Receipts left = *std::move(collected);
  if (is_overdue(status) || handing_.cancelled || left.under_way.empty()) left.problem = why;
  TRY(collector_.take_pair(run_, status, left));
  return true;
}

Result<bool> Visit::settle(bool leads) {
  const auto polled = context_.launcher->poll(ref_);
  if (!polled) return lose({.elapsed = std::nullopt}, polled.error().text);
  switch (polled->state) {
    case launch::RunState::kRunning:
      return watch(*polled);
    case launch::RunState::kForeign:
      if (run_.state != model::PairState::kReserved) {
        return lose(*polled, "its folder is another run's, or cannot be read");
      }
      [[fallthrough]];
    case launch::RunState::kUnknown:
      if (run_.block.empty()) return submit_again(*polled);
      if (leads) return false;
      return lose(*polled, "the block it belongs to never ran");
    case launch::RunState::kLost:
      return take_lost(*polled, why_lost(*polled));
    case launch::RunState::kFinished:
      return take(*polled);
  }
  return false;
}

}  // namespace

Result<int> reconcile(Context& context, Submitted& submitted, std::int64_t fence, const Say& say) {
  Collector collector{context, fence, say};
  int ended = 0;
  const std::vector<model::Pair> runs = TRY(context.ledger->runs_in_flight());
  for (const model::Pair& run : runs) {
    const std::string& block = run.block;
    const bool leads = std::ranges::find(runs, block, &model::Pair::reservation) != runs.end();
    ended += TRY(Visit(collector, run, submitted[run.reservation]).settle(leads)) ? 1 : 0;
  }
  return ended;
}

Result<> cancel_closed(Context& context, Submitted& submitted, const Say& say) {
  const std::vector<model::Pair> runs = TRY(context.ledger->runs_in_flight());
  std::set<std::string> wanted;  // Places where a run of an open question goes on.
  std::map<std::string, const model::Pair*> closed;
  for (const model::Pair& run : runs) {
    const std::string place = ref_of(run).reservation;
    // An A/A pair that shares a baseline goes with those it shares it with.
    const bool joins = run.experiment.empty() && !run.block.empty();
    const bool is_open =
        !joins && (run.experiment.empty() ||
                   TRY(context.ledger->experiment(run.experiment)).state != "closed");
    if (is_open) wanted.insert(place);
    if (!is_open) closed.emplace(place, &run);
  }
  for (const auto& [place, run] : closed) {
    Handing& handing = submitted[run->reservation];
    if (wanted.contains(place) || handing.cancelled) continue;
    handing.cancelled = true;
    say(fmt::format("{}: {} is cancelled: its experiment is closed", run->family, place));
    TRY(context.launcher->cancel(ref_of(*run)));
  }
  return Ok{};
}

}  // namespace amdahl::app
