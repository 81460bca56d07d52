#include "app/pairs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/budget.h"
#include "base/hash.h"
#include "base/text.h"
#include "compare/compare.h"
#include "launch/steps.h"
#include "ledger/event.h"
#include "model/codec.h"
#include "model/plan.h"
#include "model/spec_digest.h"
#include "os/fault.h"
#include "os/host.h"
#include "os/program.h"
#include "scan/timeline.h"

namespace amdahl::app {
namespace {

constexpr std::size_t kMostPhases = 32;
constexpr int kTicketDigits = 16;
constexpr Nanos kGitWithin = std::chrono::minutes(1);  // A file system may hang.

std::string reservation_id(const model::Pair& order) {
  if (!order.experiment.empty()) return fmt::format("r-{}-{}", order.experiment, order.index);
  return fmt::format("r-{}-{}-{}", text_of(order.aim), order.family, order.index);
}

bool is_there(const model::FileDigest& file) {
  return file.presence_only ? file.bytes > 0 : file.sha256.has_value();
}

// Why a row of the receipt is no result.
std::string what_is_wrong(const model::FileDigest& file) {
  const std::string about = fmt::format("output {}", file.path);
  if (file.sha256.sight() == model::Sight::kUnreadable) {
    return fmt::format("{} cannot be read: {}", about, file.sha256.why());
  }
  if (!file.sha256.why().empty()) return fmt::format("{} is {}", about, file.sha256.why());
  return about + (file.presence_only ? " is missing or empty" : " is missing");
}

model::Observed<std::string> outputs_digest(const model::Receipt& receipt) {
  std::string all;
  for (const model::FileDigest& file : receipt.outputs) {
    if (file.presence_only) continue;
    if (!file.sha256) return model::Observed<std::string>::absent(what_is_wrong(file));
    // The path differs between the arms' folders; the name and the content must not.
    const auto slash = file.path.rfind('/');
    all += fmt::format("{} {}\n", file.path.substr(slash == file.path.npos ? 0 : slash + 1),
                       *file.sha256);
  }
  return all.empty() ? "" : sha256_hex(all).substr(0, 16);
}

// What ended well but left out a result that the spec names has failed all the same.
std::string failure_of(const model::Receipt& receipt) {
  if (succeeded(receipt)) {
    const auto wrong = std::ranges::find_if_not(receipt.outputs, is_there);
    return wrong == receipt.outputs.end() ? "" : what_is_wrong(*wrong);
  }
  const bool never = why_never(receipt) != model::NeverRuns::kNo;
  const std::string what = never ? receipt.reason : describe_ending(receipt);
  const auto last = trim(receipt.stderr_tail);
  if (last.empty()) return what;
  return fmt::format("{} ({})", what, clip(split(last, '\n').back(), 120));
}

// Whether it had its turn. One that was cancelled before, or held back because the other cannot be
// started, did nothing wrong.
bool had_its_turn(const model::Receipt& receipt) {
  if (receipt.ending == model::Ending::kCancelled) return receipt.wall > Nanos{0};
  return receipt.ending != model::Ending::kNotStarted ||
         !receipt.reason.starts_with(launch::kNotSpent);
}

model::Observed<double> if_finite(double value) {
  return std::isfinite(value) ? model::Observed<double>(value) : model::Observed<double>();
}

// Each moment charged to the innermost phase, as in profiles. A job may name a phase after each of
// its steps: only the longest are kept, for the ledger's sake.
std::map<std::string, double> phase_seconds(const model::Receipt& receipt) {
  std::map<std::string, double> phases;
  for (const model::Span& span : scan::flatten(receipt.phases, receipt.wall)) {
    if (span.name != scan::kUnnamed) phases[span.name] += to_seconds(span.duration);
  }
  if (phases.size() <= kMostPhases) return phases;
  std::vector<std::pair<double, std::string>> longest;
  for (const auto& [name, seconds] : phases) longest.emplace_back(-seconds, name);
  std::ranges::nth_element(longest, longest.begin() + kMostPhases);
  for (std::size_t i = kMostPhases; i < longest.size(); ++i) phases.erase(longest[i].second);
  return phases;
}

model::ArmFact arm_of(const model::Spec& spec, const model::Receipt& receipt) {
  model::ArmFact arm;
  arm.cost = cost(receipt).count();
  arm.wall_s = to_seconds(receipt.wall);
  arm.cpu_s = to_seconds(receipt.cpu_user + receipt.cpu_system);
  arm.work = receipt.work;
  if (const auto it = receipt.metrics.find(spec.metric); it != receipt.metrics.end()) {
    arm.metric = it->second;
  }
  for (const model::Quality& quality : spec.quality) {
    const auto it = receipt.metrics.find(quality.name);
    if (it != receipt.metrics.end()) arm.quality[quality.name] = it->second;
  }
  arm.output_digest = outputs_digest(receipt);
  arm.input_fingerprint = receipt.input_fingerprint;
  arm.input_bytes = static_cast<double>(receipt.input_bytes);
  arm.host = receipt.host;
  arm.foreign_cpu_cores = if_finite(receipt.noise.foreign_cpu_cores);
  arm.steal_share = if_finite(receipt.noise.steal_share);
  arm.psi_cpu_some = if_finite(receipt.noise.psi_cpu_some);
  arm.started_s = to_seconds(receipt.started);
  arm.accelerators = receipt.accelerators;
  arm.phases = phase_seconds(receipt);
  arm.run_delay_s = to_seconds(receipt.run_delay);
  arm.throttled_s = to_seconds(receipt.cgroup.throttled);
  arm.left_behind = receipt.left_behind;
  arm.never_runs = why_never(receipt);
  if (had_its_turn(receipt)) arm.failure = failure_of(receipt);
  arm.failed = !arm.failure.empty();
  return arm;
}

Result<launch::PairRequest> request_of(const ledger::Family& family, const model::Pair& order,
                                       const std::vector<int>& cpus) {
  launch::PairRequest request;
  request.reservation = reservation_id(order);
  request.spec = family.spec;
  request.a = TRY(make_plan(family.spec, order.a).in("baseline"));
  request.b = TRY(make_plan(family.spec, order.b).in("variant"));
  request.variant_second = order.variant_second;
  request.profile = order.aim.purpose == model::Purpose::kProfile;
  request.concurrent = order.concurrent;
  request.contended = order.contended;
  request.order = order.order;
  request.cpus = cpus;
  for (const model::SharedVariant& variant : order.shared) {
    request.more.push_back(TRY(make_plan(family.spec, variant.change).in(variant.experiment)));
  }
  return request;
}

// Whether one process can be both arms: if not, they are whole runs as under other pairings.
bool can_alternate(const launch::PairRequest& request) {
  const auto settings = launch::step_settings(request.spec, request.a, request.b,
                                              [](std::string text) { return text; });
  return bool{settings};
}

// Each pair of steps has a coin of its own, of the seed that orders whole pairs.
Result<std::string> schedule_for(Context& context, const model::Pair& order) {
  const int index = order.index;
  if (order.experiment.empty()) {
    return launch::step_schedule(text_of(order.aim), order.family, index, launch::kStepPairs);
  }
  const model::Experiment about = TRY(context.ledger->experiment(order.experiment)).experiment;
  return launch::step_schedule(about.seed, about.hypothesis, index, launch::kStepPairs);
}

std::string head_of(const std::string& repo, os::Clock& clock) {
  std::string commit;
  const Nanos until = clock.monotonic() + kGitWithin;
  const auto asked = os::run_program(
      {.argv = {"git", "-C", repo, "rev-parse", "HEAD"}},
      [&](std::string_view bytes) -> Result<> {
        commit.append(bytes);
        return Ok{};
      },
      [&] { return clock.monotonic() > until; });
  return asked ? std::string(trim(commit)) : "";  // The worker will say what is wrong with it.
}

// The commit that patches are applied to. An experiment's is that of its first run, so that all its
// pairs compare the same code, whatever is committed meanwhile.
Result<std::string> commit_for(Context& context, const model::Spec& spec,
                               const model::Pair& order) {
  if (!order.experiment.empty()) {
    for (const model::Pair& pair : TRY(context.ledger->runs_of(order.experiment))) {
      if (!pair.commit.empty()) return pair.commit;
    }
  }
  return head_of(spec.repo, *context.clock);
}

// What the arms that a reservation pays for hold.
struct Holding {
  int accelerators = 0;
  int cpus = 0;
};

ledger::Draft reservation(const Config& config, const model::Pair& order, const std::string& id,
                          const Holding& arms, const ledger::Family& family, Json request) {
  if (!order.stratum.empty()) request["stratum"] = order.stratum;
  const Nanos most = family.spec.time_limit + launch::kArmGrace;
  const AcceleratorSeconds time = Accelerators(arms.accelerators) * most;
  return {"run.reserved",
          "cycle",
          id,
          {{"family", order.family},
           {"experiment", order.experiment},
           {"purpose", text_of(order.aim)},
           {"index", order.index},
           {"variant_second", order.variant_second},
           {"reserved_accelerator_s", time.count()},
           {"reserved", {{"usd", bill(config, time, arms.cpus * most).count()}}},
           {"request", std::move(request)}}};
}

// The pair and, for a block, each further variant: it shares the baseline, so it pays for itself
// alone.
std::vector<ledger::Draft> reservations(const Config& config, const ledger::Family& family,
                                        const model::Pair& order,
                                        const launch::PairRequest& request) {
  const Holding both{request.a.accelerators + request.b.accelerators,
                     request.a.cpus + request.b.cpus};
  std::vector<ledger::Draft> drafts{reservation(config, order, request.reservation, both, family,
                                                launch::encode_request(request))};
  const std::string of_a = digest(request.a);
  // A profile and a process that alternates are both of A's plan.
  const bool one_plan = request.profile || request.steps;
  drafts.front().payload["cpus"] = request.cpus;
  drafts.front().payload["request"]["setup"] = setup_of(family.spec, request.a);
  drafts.front().payload["request"]["digests"] = {of_a, one_plan ? of_a : digest(request.b)};
  for (std::size_t i = 0; i < order.shared.size(); ++i) {
    const model::Pair own = pair_of(order.shared[i], order);
    drafts.push_back(reservation(config, own, reservation_id(own),
                                 {request.more[i].accelerators, request.more[i].cpus}, family,
                                 Json{{"block", request.reservation},
                                      {"arm", static_cast<int>(i) + 2},
                                      {"ticket", request.ticket},
                                      {"digests", {of_a, digest(request.more[i])}}}));
    if (!request.commit.empty()) {
      drafts.back().payload["request"]["commit"] = request.commit;
    }
    drafts.back().payload["cpus"] = std::vector<int>{};
  }
  return drafts;
}

// Whether the variant came second, by a clock that is never set; the wall clock may be.
model::Observed<bool> came_second(const model::Receipt& a, const model::Receipt& b) {
  const bool one_clock = !a.boot_id.empty() && a.boot_id == b.boot_id;
  if (!one_clock || a.started_monotonic == Nanos{0} || b.started_monotonic == Nanos{0}) return {};
  return b.started_monotonic > a.started_monotonic;
}

// On the second half of the slots, for arms that ran at once.
model::Observed<bool> on_second_slots(const model::Pair& pair, const model::Receipt& a,
                                      const model::Receipt& b) {
  if (a.cpus.empty() || b.cpus.empty()) return {};
  const auto place = [&](int cpu) { return std::ranges::find(pair.cpus, cpu); };
  return place(b.cpus.front()) > place(a.cpus.front());
}

// An arm without a number counts as failed, whatever it exited with.
void blame(model::ArmFact& arm, const std::string& fault) {
  if (arm.failed || fault.empty()) return;
  arm.failed = true;
  arm.failure = fault;
}

// The pair is lost; so are the arms that were under way when it was.
void lose(const model::Pair& pair, const launch::Receipts& receipts, model::PairFact& fact) {
  const auto was_under_way = [&](int arm) {
    return receipts.under_way.find(static_cast<char>('A' + arm)) != std::string::npos;
  };
  fact.voided = true;
  fact.void_reason = receipts.problem.empty() ? "a receipt is missing" : receipts.problem;
  if (was_under_way(0)) blame(fact.a, fact.void_reason);
  if (was_under_way(pair.arm)) blame(fact.b, fact.void_reason);
}

// Of a block, the variant that the reservation is for.
std::optional<model::Receipt> variant_of(const model::Pair& pair,
                                         const launch::Receipts& receipts) {
  if (pair.arm < 2) return receipts.b;
  const auto further = static_cast<std::size_t>(pair.arm) - 2;
  return further < receipts.more.size() ? receipts.more[further] : std::nullopt;
}

}  // namespace

Result<int> slots_needed(const model::Spec& spec, const model::Pair& order) {
  const model::Plan a = TRY(make_plan(spec, order.a));
  const model::Plan b = TRY(make_plan(spec, order.b));
  if (order.concurrent) return 2 * std::max(a.cpus, b.cpus);
  int most = std::max(a.cpus, b.cpus);
  for (const model::SharedVariant& variant : order.shared) {
    most = std::max(most, TRY(make_plan(spec, variant.change)).cpus);
  }
  return most;
}

Result<Submission> submit_pair(Context& context, const ledger::Family& family,
                               const model::Pair& order, const std::vector<int>& cpus,
                               std::int64_t fence) {
  launch::PairRequest request = TRY(request_of(family, order, cpus));
  request.steps = order.steps && can_alternate(request);
  if (request.steps) request.schedule = TRY(schedule_for(context, order));
  request.ledger = TRY(context.ledger->id());
  request.ticket = os::random_hex(kTicketDigits);
  if (launch::has_patch(request)) request.commit = TRY(commit_for(context, family.spec, order));
  const std::vector<ledger::Draft> reserved = reservations(context.config, family, order, request);
  TRY(context.ledger->append(reserved, fence));
  os::fault_point("cycle.reserved");
  const auto worker = context.launcher->submit(request);
  if (!worker) return Submission{request.reservation, worker.error().text};
  os::fault_point("cycle.launched");
  std::vector<ledger::Draft> submitted{
      {"run.submitted", "cycle", request.reservation, {{"worker_run_id", *worker}}}};
  for (std::size_t i = 0; i < order.shared.size(); ++i) {
    submitted.push_back({"run.submitted",
                         "cycle",
                         reserved[i + 1].subject,
                         {{"worker_run_id", shared_worker(*worker, static_cast<int>(i) + 2)}}});
  }
  TRY(context.ledger->append(submitted, fence));
  return Submission{request.reservation, ""};
}

Identity identity_of(const model::Pair& pair) {
  Identity identity;
  const auto json = parse_json(pair.request);
  if (!json || !json->is_object()) return identity;
  identity.ticket = json->value("ticket", "");
  identity.setup = json->value("setup", "");
  identity.digests = json->value("digests", std::vector<std::string>{});
  return identity;
}

launch::RunRef ref_of(const model::Pair& pair) {
  return {pair.block.empty() ? pair.reservation : pair.block, identity_of(pair).ticket};
}

void refuse_mismatch(const model::Pair& pair, launch::Receipts& receipts) {
  const std::vector<std::string> digests = identity_of(pair).digests;
  const auto variant = static_cast<char>('A' + pair.arm);
  std::vector<std::string> differs;
  const auto check = [&](const std::optional<model::Receipt>& receipt, std::size_t arm) {
    if (!receipt || digests.size() != 2 || receipt->plan_digest == digests[arm]) return;
    differs.push_back(fmt::format("arm {} ran plan {}, and {} was reserved",
                                  arm == 0 ? 'A' : variant, receipt->plan_digest, digests[arm]));
  };
  check(receipts.a, 0);
  check(variant_of(pair, receipts), 1);
  const auto place = [&](char arm) {
    return std::ranges::find(receipts.order, std::string(1, arm));
  };
  const auto a = place('A');
  const auto b = place(variant);
  const bool in_turn =
      !pair.concurrent && !pair.steps && pair.aim.purpose != model::Purpose::kProfile;
  const bool both = a != receipts.order.end() && b != receipts.order.end();
  if (in_turn && both && (a < b) != pair.variant_second) {
    differs.push_back(fmt::format("the arms ran in the order {}, which is not the one drawn",
                                  fmt::join(receipts.order, ", ")));
  }
  if (differs.empty()) return;
  receipts = {};
  receipts.problem =
      fmt::format("the receipts are not those of the reservation: {}", fmt::join(differs, "; "));
}

std::string shared_worker(const std::string& worker, int arm) {
  return fmt::format("{}/{}", worker, static_cast<char>('A' + arm));
}

model::PairFact fact_of(const model::Pair& pair, const model::Spec& spec,
                        const launch::Receipts& receipts) {
  const std::optional<model::Receipt> b = variant_of(pair, receipts);
  model::PairFact fact;
  fact.reservation = pair.reservation;
  fact.index = pair.index;
  fact.purpose = pair.aim.purpose;
  fact.target = pair.aim.target;
  fact.variant_second = pair.variant_second;
  fact.concurrent = pair.concurrent;
  fact.contended = pair.contended;
  fact.stratum = pair.stratum;
  fact.block = pair.block;
  if (receipts.a) fact.a = arm_of(spec, *receipts.a);
  if (b) fact.b = arm_of(spec, *b);
  if (!receipts.a || !b || receipts.lost) {
    lose(pair, receipts, fact);
    return fact;
  }
  fact.steps = receipts.steps;
  // Of arms that run at once the coin chose the slots. Steps have an order each, and a run that did
  // not keep it has no receipts here.
  if (pair.steps) {
    fact.ran_variant_second = pair.variant_second;
  } else {
    fact.ran_variant_second =
        pair.concurrent ? on_second_slots(pair, *receipts.a, *b) : came_second(*receipts.a, *b);
  }
  fact.void_reason = compare::why_void(fact, spec);
  fact.voided = !fact.void_reason.empty();
  const compare::ArmFaults faults = compare::arm_faults(fact, spec);
  if (had_its_turn(*receipts.a)) blame(fact.a, faults.a);
  if (had_its_turn(*b)) blame(fact.b, faults.b);
  return fact;
}

std::string place_of(const Context& context) {
  return fmt::format("{} on {}", context.config.launcher, context.hardware);
}

int next_index(const std::vector<model::Pair>& pairs) {
  int last = 0;
  for (const model::Pair& pair : pairs) last = std::max(last, pair.index);
  return last + 1;
}

std::vector<int> free_slots(const Config& config, const std::vector<model::Pair>& in_flight) {
  std::set<int> taken;
  for (const model::Pair& pair : in_flight) taken.insert(pair.cpus.begin(), pair.cpus.end());
  std::vector<int> free;
  for (const int cpu : config.slots) {
    if (!taken.contains(cpu)) free.push_back(cpu);
  }
  return free;
}

}  // namespace amdahl::app
