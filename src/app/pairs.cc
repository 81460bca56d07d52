#include "app/pairs.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text.h"
#include "compare/compare.h"
#include "model/codec.h"
#include "model/plan.h"
#include "os/fault.h"

namespace amdahl::app {
namespace {

using model::Purpose;

constexpr std::string_view kTopUpPrefix = "top-up:";
constexpr Nanos kGrace = std::chrono::seconds(15);  // To end a tree and write the receipt.

struct PurposeName {
  Purpose purpose;
  std::string_view text;
};
constexpr auto kPurposes = std::to_array<PurposeName>({
    {Purpose::kCompare, "compare"},
    {Purpose::kReplicate, "replicate"},
    {Purpose::kSame, "same"},
    {Purpose::kStack, "stack"},
});

std::string reservation_id(const PairOrder& order) {
  const std::string about = order.experiment.empty()
                                ? fmt::format("{}-{}", order.purpose, order.family)
                                : order.experiment;
  return fmt::format("r-{}-{}", about, order.index);
}

std::string outputs_digest(const model::Receipt& receipt) {
  if (receipt.outputs.empty()) return "";
  std::string all;
  for (const model::FileDigest& file : receipt.outputs) {
    // The path differs between the arms' folders; the name and the content must not.
    const auto slash = file.path.rfind('/');
    all += fmt::format("{} {}\n", file.path.substr(slash == file.path.npos ? 0 : slash + 1),
                       file.sha256.empty() ? "missing" : file.sha256);
  }
  return sha256_hex(all).substr(0, 16);
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
  arm.foreign_cpu_cores = receipt.noise.foreign_cpu_cores;
  arm.steal_share = receipt.noise.steal_share;
  arm.psi_cpu_some = receipt.noise.psi_cpu_some;
  arm.started_s = to_seconds(receipt.started);
  arm.accelerators = receipt.accelerators;
  arm.failed = !succeeded(receipt);
  if (arm.failed) {
    arm.failure = describe_ending(receipt);
    const auto last = trim(receipt.stderr_tail);
    if (!last.empty()) arm.failure += fmt::format(" ({})", clip(split(last, '\n').back(), 120));
  }
  return arm;
}

}  // namespace

std::string purpose_text(Purpose purpose, const std::string& target) {
  if (purpose == Purpose::kTopUp) return std::string(kTopUpPrefix) + target;
  return std::string(std::ranges::find(kPurposes, purpose, &PurposeName::purpose)->text);
}

Purpose purpose_of(std::string_view text) {
  if (text.starts_with(kTopUpPrefix)) return Purpose::kTopUp;
  const auto row = std::ranges::find(kPurposes, text, &PurposeName::text);
  return row == kPurposes.end() ? Purpose::kCompare : row->purpose;
}

std::string target_in(std::string_view text) {
  if (!text.starts_with(kTopUpPrefix)) return "";
  return std::string(text.substr(kTopUpPrefix.size()));
}

Result<int> slots_needed(const model::Spec& spec, const PairOrder& order) {
  const model::Plan a = TRY(make_plan(spec, order.a));
  const model::Plan b = TRY(make_plan(spec, order.b));
  return std::max(a.cpus, b.cpus);
}

Result<std::string> submit_pair(Context& context, const ledger::Family& family,
                                const PairOrder& order, const std::vector<int>& cpus,
                                std::int64_t fence) {
  launch::PairRequest request;
  request.reservation = reservation_id(order);
  request.spec = family.spec;
  request.a = TRY(make_plan(family.spec, order.a).in("baseline"));
  request.b = TRY(make_plan(family.spec, order.b).in("variant"));
  request.variant_second = order.variant_second;
  request.profile = order.profile;
  request.cpus = cpus;

  const double arms = request.a.accelerators + request.b.accelerators;
  const double reserve = arms * to_seconds(family.spec.time_limit + kGrace);
  TRY(note(context,
           {"run.reserved",
            "cycle",
            request.reservation,
            {{"family", order.family},
             {"experiment", order.experiment},
             {"purpose", order.purpose},
             {"index", order.index},
             {"variant_second", order.variant_second},
             {"cpus", cpus},
             {"reserved_accelerator_s", reserve},
             {"request", launch::encode_request(request)}}},
           fence));
  os::fault_point("cycle.reserved");
  const std::string worker = TRY(context.launcher->submit(request));
  os::fault_point("cycle.launched");
  TRY(note(context, {"run.submitted", "cycle", request.reservation, {{"worker_run_id", worker}}},
           fence));
  return request.reservation;
}

model::PairFact fact_of(const ledger::Run& run, const model::Spec& spec,
                        const launch::Receipts& receipts) {
  model::PairFact fact;
  fact.reservation = run.reservation;
  fact.index = run.index;
  fact.purpose = purpose_of(run.purpose);
  fact.target = target_in(run.purpose);
  fact.variant_second = run.variant_second;
  fact.ran_variant_second = run.variant_second;
  if (receipts.a) fact.a = arm_of(spec, *receipts.a);
  if (receipts.b) fact.b = arm_of(spec, *receipts.b);
  if (!receipts.a || !receipts.b) {
    fact.voided = true;
    fact.void_reason = receipts.problem.empty() ? "a receipt is missing" : receipts.problem;
    return fact;
  }
  fact.ran_variant_second = receipts.b->started >= receipts.a->started;
  fact.void_reason = compare::why_void(fact, spec);
  fact.voided = !fact.void_reason.empty();
  return fact;
}

int next_index(const std::vector<ledger::Run>& runs) {
  int last = 0;
  for (const ledger::Run& run : runs) last = std::max(last, run.index);
  return last + 1;
}

std::vector<int> free_slots(const Config& config, const std::vector<ledger::Run>& in_flight) {
  std::set<int> taken;
  for (const ledger::Run& run : in_flight) taken.insert(run.cpus.begin(), run.cpus.end());
  std::vector<int> free;
  for (const int cpu : config.slots) {
    if (!taken.contains(cpu)) free.push_back(cpu);
  }
  return free;
}

}  // namespace amdahl::app
