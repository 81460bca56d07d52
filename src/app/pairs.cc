#include "app/pairs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text.h"
#include "compare/compare.h"
#include "model/codec.h"
#include "scan/timeline.h"

namespace amdahl::app {
namespace {

constexpr std::size_t kMostPhases = 32;

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
  const bool never = why_never(receipt) != model::NeverRuns::kNo;
  if (succeeded(receipt) && !never) {
    const auto wrong = std::ranges::find_if_not(receipt.outputs, is_there);
    return wrong == receipt.outputs.end() ? "" : what_is_wrong(*wrong);
  }
  const std::string what = never ? receipt.reason : describe_ending(receipt);
  const auto last = trim(receipt.stderr_tail);
  if (last.empty() || succeeded(receipt)) return what;
  return fmt::format("{} ({})", what, clip(split(last, '\n').back(), 120));
}

// Whether it had its turn. One that was cancelled before, or held back because the other cannot be
// started, did nothing wrong.
bool had_its_turn(const model::Receipt& receipt) {
  if (receipt.ending == model::Ending::kCancelled) return receipt.wall > Nanos{0};
  return !receipt.held_back;
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

// Whether another variant of the block, which may have warmed what this one finds, ran before it.
bool came_after_another(const launch::Receipts& receipts, const model::Receipt& b) {
  const auto before = [&](const std::optional<model::Receipt>& other) {
    return other && other->arm != b.arm && came_second(*other, b) == true;
  };
  return before(receipts.b) || std::ranges::any_of(receipts.more, before);
}

// Of a block, the variant that the reservation is for.
std::optional<model::Receipt> variant_of(const model::Pair& pair,
                                         const launch::Receipts& receipts) {
  if (pair.arm < 2) return receipts.b;
  const auto further = static_cast<std::size_t>(pair.arm) - 2;
  return further < receipts.more.size() ? receipts.more[further] : std::nullopt;
}

}  // namespace

Identity identity_of(const model::Pair& pair) {
  Identity identity;
  const auto json = parse_json(pair.request);
  if (!json || !json->is_object()) return identity;
  identity.ticket = json->value("ticket", "");
  identity.setup = json->value("setup", "");
  identity.digests = json->value("digests", std::vector<std::string>{});
  identity.environment = json->value("environment", "");
  identity.source = json->value("source", "");
  identity.build_accelerator_s = json->value("build_accelerator_s", 0.0);
  return identity;
}

Result<model::Spec> spec_of(Context& context, const model::Pair& pair) {
  const auto spec_in = [](const model::Pair& run) -> Result<std::optional<model::Spec>> {
    const Json request = TRY(parse_json(run.request));
    if (!request.contains("spec")) return std::optional<model::Spec>();
    return std::optional(TRY(model::decode<model::Spec>(request.at("spec")).in("/spec")));
  };
  if (auto own = TRY(spec_in(pair).in(pair.reservation))) return *std::move(own);
  // A block's further variants are in the request of the pair that leads it.
  for (const model::Pair& run : TRY(context.ledger->family_runs(pair.family))) {
    if (run.reservation != pair.block) continue;
    if (auto of_block = TRY(spec_in(run).in(run.reservation))) return *std::move(of_block);
  }
  return TRY(context.ledger->family(pair.family)).spec;
}

launch::RunRef ref_of(const model::Pair& pair) {
  return {pair.block.empty() ? pair.reservation : pair.block, identity_of(pair).ticket};
}

void refuse_mismatch(const model::Pair& pair, launch::Receipts& receipts) {
  const Identity identity = identity_of(pair);
  const std::vector<std::string>& digests = identity.digests;
  const auto variant = static_cast<char>('A' + pair.arm);
  std::vector<std::string> differs;
  const auto check = [&](const std::optional<model::Receipt>& receipt, std::size_t arm) {
    if (!receipt) return;
    const auto same = [&](std::string_view what, const std::string& ran,
                          const std::string& reserved) {
      if (ran == reserved) return;
      differs.push_back(fmt::format("arm {} ran {} {}, and {} was reserved",
                                    arm == 0 ? 'A' : variant, what, ran, reserved));
    };
    if (digests.size() == 2) same("plan", receipt->plan_digest, digests[arm]);
    // What did not start has seen neither.
    if (receipt->ending == model::Ending::kNotStarted || receipt->environment.empty()) return;
    if (!identity.environment.empty()) {
      same("in environment", receipt->environment, identity.environment);
    }
    if (!identity.source.empty()) same("source code", receipt->source, identity.source);
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
    fact.after_shared = came_after_another(receipts, *b);
  }
  fact.void_reason = compare::why_void(fact, spec);
  fact.voided = !fact.void_reason.empty();
  const compare::ArmFaults faults = compare::arm_faults(fact, spec);
  if (had_its_turn(*receipts.a)) blame(fact.a, faults.a);
  if (had_its_turn(*b)) blame(fact.b, faults.b);
  return fact;
}

std::string place_of(const Context& context, const std::string& family) {
  return fmt::format("{} on {}", context.config.launcher, context.hardware_for(family));
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
