#include "app/reconcile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/budget.h"
#include "app/evidence.h"
#include "app/job_profile.h"
#include "app/pairs.h"
#include "app/propose.h"
#include "app/work.h"
#include "base/text.h"
#include "compare/compare.h"
#include "model/codec.h"
#include "model/plan.h"
#include "os/fault.h"

namespace amdahl::app {
namespace {

constexpr Nanos kBetweenHandings = std::chrono::seconds(10);
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

// What the place bills; the arms may have used less of it.
AcceleratorSeconds held(const launch::Charge& charge) {
  return Accelerators(charge.accelerators) * charge.wall;
}

struct Collector {
  Context& context;
  std::int64_t fence;
  const Say& say;
  std::string actor = "cycle";
  std::vector<launch::RunRef> to_release{};  // At the end, in one call.

  Result<bool> is_in_flight(const model::Pair& run) {
    const std::vector<model::Pair> runs = TRY(context.ledger->runs_in_flight());
    return std::ranges::find(runs, run.reservation, &model::Pair::reservation) != runs.end();
  }

  Result<> keep(const model::Pair& run, const std::string& kind, Json payload,
                std::vector<ledger::Draft> more = {}) {
    std::vector<ledger::Draft> drafts{{kind, actor, run.reservation, std::move(payload)}};
    drafts.insert(drafts.end(), more.begin(), more.end());
    os::fault_point("cycle.collect");
    const auto kept = context.ledger->append(drafts, fence);
    if (kept) return Ok{};
    // A helper, or the cycle, was first: a run has one fate.
    const bool conflicts = kept.error().kind == Error::Kind::kConflict;
    if (conflicts && !TRY(is_in_flight(run))) return Ok{};
    return kept.error();
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
    if (status.charge) return charged_by_place(run, *status.charge, std::move(more));
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

  // A block has one allocation, and the pair that leads it pays.
  Json charged_by_place(const model::Pair& run, const launch::Charge& charge, Json more) const {
    const bool pays = run.block.empty();
    return charged(pays ? held(charge) : AcceleratorSeconds{0},
                   pays ? charge.cpus * charge.wall : Nanos{0}, std::move(more));
  }

  // Of a run with receipts: what the place bills, or what they say.
  Json billed(const model::Pair& run, const launch::RunStatus& status, AcceleratorSeconds time,
              Nanos cpu, Json more) const {
    return status.charge ? charged_by_place(run, *status.charge, std::move(more))
                         : charged(time, cpu, std::move(more));
  }

  Result<> lose(const model::Pair& run, const launch::RunStatus& status,
                const std::string& reason) {
    say(fmt::format("{}: {} is void: {}", run.family, run.reservation, reason));
    return keep(run, "run.voided", charged(run, status, {{"reason", reason}}));
  }

  // " of 'larger batches'"; nothing for a pair that tests no idea.
  Result<std::string> idea_of(const model::Pair& run) {
    const bool is_race = run.aim.purpose == model::Purpose::kRace;
    if (run.experiment.empty() && !is_race) return std::string();
    const std::string id =
        is_race ? run.aim.target
                : TRY(context.ledger->experiment(run.experiment)).experiment.hypothesis;
    return fmt::format(" of '{}'", TRY(context.ledger->hypothesis(id)).hypothesis.title);
  }

  Result<> take_pair(const model::Pair& run, const launch::RunStatus& status,
                     const launch::Receipts& receipts) {
    const model::Spec spec = TRY(spec_of(context, run));
    model::PairFact fact = fact_of(run, spec, receipts);
    if (fact.purpose == model::Purpose::kSame) fact.target = place_of(context, run.family);
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
      say(fmt::format(
          "{}: the receipt of arm {} of {} was changed during the run; the worker wrote "
          "it again",
          run.family, join(receipts.restored, ", "), run.reservation));
    }
    if (fact.voided) {
      say(fmt::format("{}: {}{} is void: {}", run.family, label_of(run), TRY(idea_of(run)),
                      fact.void_reason));
      Json why{{"reason", fact.void_reason}, {"fact", encode(fact)}};
      // What was run and has no receipt that counts was paid for all the same.
      const bool is_known = receipts.whole || (receipts.a && receipts.problem.empty());
      return keep(run, "run.voided",
                  is_known ? billed(run, status, time, cpu, std::move(why))
                           : charged(run, status, std::move(why)));
    }
    const auto d = compare::log_ratio(fact, spec);
    say(fmt::format("{}: {}{}: A {:.2f}, B {:.2f} accelerator-seconds ({:+.1f} %), {} first",
                    run.family, label_of(run), TRY(idea_of(run)), fact.a.cost, fact.b.cost,
                    100 * (1 - std::exp(-d.value_or(0))), run.variant_second ? "A" : "B"));
    return keep(run, "run.collected", billed(run, status, time, cpu, {{"fact", encode(fact)}}));
  }

  // What came of it is in the tree; the pairs that need it go on from there.
  Result<> take_build(const model::Pair& run, const launch::RunStatus& status,
                      const launch::Receipts& receipts) {
    if (!receipts.problem.empty()) return lose(run, status, receipts.problem);
    return keep(
        run, "run.collected",
        billed(run, status, AcceleratorSeconds{0}, receipts.build_cpu, {{"fact", nullptr}}));
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
      return keep(run, "run.voided", billed(run, status, time, cpu, {{"reason", reason}}));
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
    TRY(keep(run, "run.collected",
             billed(run, status, time, cpu, {{"fact", nullptr}, {"evidence", seen}}),
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
    const std::string known = describe_known(ideas.known);
    if (!known.empty()) say(fmt::format("{}: {}", run.family, known));
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

  // Whether it ended, by what the place says of it. `leads`: whether the run that it shares, if it
  // does, is in flight too.
  Result<bool> settle(const launch::RunStatus& status, bool leads);
  Result<bool> take(const launch::RunStatus& status);

 private:
  Result<bool> lose(const launch::RunStatus& status, const std::string& reason) {
    TRY(collector_.lose(run_, status, reason));
    return true;
  }
  std::string why_lost(const launch::RunStatus& status) const;
  Result<bool> watch(const launch::RunStatus& status);
  Result<> adopt(const launch::RunStatus& status);
  Result<> record(const std::string& worker);
  // Why it is not to be handed over once more, if it is not: it is then cancelled.
  Result<std::string> why_give_up(const launch::RunStatus& status);
  Result<bool> release(const launch::RunStatus& status);
  Result<bool> submit_again(const launch::RunStatus& status);
  bool leave_to_helpers(const launch::RunStatus& status);
  bool is_with_builders(const launch::RunStatus& status);
  Result<bool> take_lost(const launch::RunStatus& status, const std::string& why);

  Collector& collector_;
  Context& context_;
  const model::Pair& run_;
  launch::RunRef ref_;
  Handing& handing_;
};

Result<> Visit::record(const std::string& worker) {
  if (run_.state != model::PairState::kReserved) return Ok{};
  const std::string id = run_.block.empty() ? worker : shared_worker(worker, run_.arm);
  return note(context_, {"run.submitted", "cycle", run_.reservation, {{"worker_run_id", id}}},
              collector_.fence);
}

// A crash came between submission and record: adopt it.
Result<> Visit::adopt(const launch::RunStatus& status) {
  if (run_.state != model::PairState::kReserved) return Ok{};
  TRY(record(status.worker));
  collector_.say(fmt::format("{}: adopted {}", run_.family, run_.reservation));
  return Ok{};
}

// It ends by itself long before its deadline, unless its worker is stopped or its job cannot be
// killed. It is asked to end, then made to, and then given up: no wait is for ever.
Result<bool> Visit::watch(const launch::RunStatus& status) {
  TRY(adopt(status));
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

Result<std::string> Visit::why_give_up(const launch::RunStatus& status) {
  const bool closed = !run_.experiment.empty() &&
                      TRY(context_.ledger->experiment(run_.experiment)).state == "closed";
  if (closed) return std::string("it had not started, and its experiment is closed");
  const int times = std::max(handing_.times, status.released);
  if (times < kMostHandings) return std::string();
  return fmt::format("it was handed over {} times, and no worker began it", times);
}

// It is there and waits to be let go: a crash came before that, or its worker never began.
Result<bool> Visit::release(const launch::RunStatus& status) {
  if (const std::string why = TRY(why_give_up(status)); !why.empty()) {
    TRY(context_.launcher->cancel(ref_));
    return lose(status, why);
  }
  TRY(adopt(status));
  const Nanos now = context_.clock->monotonic();
  if (handing_.times > 0 && now - handing_.last < kBetweenHandings) return false;
  handing_.last = now;
  handing_.times = std::max(handing_.times, status.released) + 1;
  collector_.say(
      fmt::format("{}: {} had not started; handed over again", run_.family, run_.reservation));
  collector_.to_release.push_back(ref_);
  return false;
}

// It is nowhere, by evidence; the reservation is there, so hand it over. Only one worker will run
// it.
Result<bool> Visit::submit_again(const launch::RunStatus& status) {
  if (const std::string why = TRY(why_give_up(status)); !why.empty()) {
    TRY(context_.launcher->cancel(ref_));
    return lose(status, why);
  }
  const Nanos now = context_.clock->monotonic();
  if (handing_.times > 0 && now - handing_.last < kBetweenHandings) return false;
  const auto stored = parse_json(run_.request);
  const auto request =
      stored ? launch::decode_request(*stored) : Result<launch::PairRequest>(stored.error());
  if (!request) return lose(status, "its request: " + request.error().text);
  handing_.last = now;
  ++handing_.times;
  const auto answer = context_.launcher->submit(std::span(&*request, 1)).front();
  if (answer.handover != launch::Handover::kAccepted) {
    collector_.say(fmt::format("{}: {} could not be handed over: {}", run_.family, run_.reservation,
                               answer.reason));
    return false;
  }
  collector_.say(
      fmt::format("{}: {} had not started; handed over again", run_.family, run_.reservation));
  TRY(record(answer.worker));
  collector_.to_release.push_back(ref_);
  return false;
}

bool Visit::leave_to_helpers(const launch::RunStatus& status) {
  const Piece piece{Piece::Kind::kCollect, run_.reservation, status};
  const bool left = WorkFolder(context_).leave(piece, collector_.fence, handing_.offered);
  if (!left) handing_.offered = Nanos{0};
  return left;
}

// A worktree that a helper builds, or may take to build: runs without allocations are built here.
bool Visit::is_with_builders(const launch::RunStatus& status) {
  if (run_.aim.purpose != model::Purpose::kBuild || context_.allocates) return false;
  WorkFolder work(context_);
  if (status.state != launch::RunState::kAbsent) return work.is_claimed(run_.reservation);
  return work.leave({Piece::Kind::kBuild, run_.reservation}, collector_.fence, handing_.offered);
}

Result<bool> Visit::take(const launch::RunStatus& status) {
  auto collected = context_.launcher->collect(ref_);
  if (!collected) return take_lost(status, collected.error().text);
  launch::Receipts receipts = *std::move(collected);
  if (run_.aim.purpose == model::Purpose::kBuild) {
    TRY(collector_.take_build(run_, status, receipts));
    return true;
  }
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
  if (launch::is_infrastructure(status.state)) {
    return fmt::format("{}{}{}{}", kInfrastructure, name(status.state),
                       status.why.empty() ? "" : ": ", status.why);
  }
  if (handing_.cancelled) return "it was cancelled";
  return status.why.empty() ? "the worker died without writing receipts" : status.why;
}

// Lost to the arm that was under way: a variant must not choose which of its runs are counted.
Result<bool> Visit::take_lost(const launch::RunStatus& status, const std::string& why) {
  auto collected = context_.launcher->collect(ref_);
  const model::Purpose purpose = run_.aim.purpose;
  const bool has_arms = purpose != model::Purpose::kProfile && purpose != model::Purpose::kBuild;
  if (!has_arms) return lose(status, why);
  launch::Receipts left = collected ? *std::move(collected) : launch::Receipts{};
  if (launch::is_infrastructure(status.state)) left.under_way.clear();  // No arm is to blame.
  left.lost = true;
  if (is_overdue(status) || handing_.cancelled || left.under_way.empty() || !status.why.empty()) {
    left.problem = why;
  }
  TRY(collector_.take_pair(run_, status, left));
  return true;
}

Result<bool> Visit::settle(const launch::RunStatus& status, bool leads) {
  const bool shares = !run_.block.empty();
  if (is_with_builders(status)) return false;
  switch (status.state) {
    case launch::RunState::kUnknown:
      if (!status.why.empty() && handing_.said != status.why) {
        collector_.say(
            fmt::format("{}: {} is unknown: {}", run_.family, run_.reservation, status.why));
        handing_.said = status.why;
      }
      return false;
    case launch::RunState::kHeld:
      if (!shares) return release(status);
      TRY(adopt(status));
      return leads ? Result<bool>(false) : lose(status, "the block it belongs to never ran");
    case launch::RunState::kQueued:
    case launch::RunState::kRunning:
      return watch(status);
    case launch::RunState::kForeign:
      if (run_.state != model::PairState::kReserved) {
        return take_lost(status, "its folder is another run's, or cannot be read");
      }
      [[fallthrough]];
    case launch::RunState::kAbsent:
      // What was handed over may have run: it does not run once more, free and uncounted.
      if (run_.state == model::PairState::kSubmitted && (status.worker + status.why).empty()) {
        return take_lost(status, "its folder was removed");
      }
      if (!shares) return submit_again(status);
      return leads ? Result<bool>(false) : lose(status, "the block it belongs to never ran");
    case launch::RunState::kRequeued:
      TRY(context_.launcher->cancel(ref_));
      [[fallthrough]];
    case launch::RunState::kPreempted:
    case launch::RunState::kNodeFailed:
    case launch::RunState::kTimedOut:
    case launch::RunState::kOutOfMemory:
    case launch::RunState::kLost:
      return take_lost(status, why_lost(status));
    case launch::RunState::kFinished:
      return leave_to_helpers(status) ? Result<bool>(false) : take(status);
  }
  return false;
}

}  // namespace

Result<bool> collect_run(Context& context, const std::string& reservation,
                         const launch::RunStatus& status, const std::string& actor,
                         const Say& say) {
  Collector collector{context, 0, say, actor};
  for (const model::Pair& run : TRY(context.ledger->runs_in_flight())) {
    Handing handing;
    if (run.reservation == reservation) return Visit(collector, run, handing).take(status);
  }
  return false;
}

Result<int> reconcile(Context& context, Submitted& submitted, std::int64_t fence, const Say& say) {
  Collector collector{context, fence, say};
  const std::vector<model::Pair> runs = TRY(context.ledger->runs_in_flight());
  std::vector<launch::RunRef> refs;
  for (const model::Pair& run : runs) refs.push_back(ref_of(run));
  int ended = forget_ended(submitted, runs);
  const std::vector<launch::RunStatus> statuses = context.launcher->status(refs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const model::Pair& run = runs[i];
    const bool leads = std::ranges::find(runs, run.block, &model::Pair::reservation) != runs.end();
    Visit visit(collector, run, submitted[run.reservation]);
    ended += TRY(visit.settle(statuses[i], leads)) ? 1 : 0;
  }
  if (collector.to_release.empty()) return ended;
  if (const auto released = context.launcher->release(collector.to_release); !released) {
    say(released.error().text);
  }
  return ended;
}

}  // namespace amdahl::app
