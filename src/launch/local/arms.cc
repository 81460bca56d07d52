#include "launch/local/arms.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace amdahl::launch::local {
namespace {

constexpr double kTooDear = 3;
constexpr Nanos kStartAllowance =
    std::chrono::seconds(2);  // A short job is soon three times as long.

std::vector<int> first_of(std::vector<int> cpus, int wanted) {
  const auto most = static_cast<std::size_t>(std::max(0, wanted));
  if (most > 0 && most < cpus.size()) cpus.resize(most);
  return cpus;
}

std::string name_of(int arm) { return std::string(1, static_cast<char>('A' + arm)); }

const model::Plan& plan_of(const PairRequest& request, int arm) {
  if (arm == 0) return request.a;
  return arm == 1 ? request.b : request.more[static_cast<std::size_t>(arm) - 2];
}

Result<> check(const PairRequest& request) {
  const int ways = int{request.profile} + int{request.concurrent} + int{request.steps} +
                   int{!request.more.empty()};
  if (ways > 1) {
    return bad_input(
        "the request must be at most one of: a profile, concurrent arms, arms by steps, a block");
  }
  const int nodes = request.spec.layout.nodes;
  if (nodes > 1 && !request.allocated) {
    return bad_input("a job of several nodes needs Slurm; set launcher = \"slurm\"");
  }
  if (nodes > 1 && (request.a.accelerators % nodes != 0 || request.b.accelerators % nodes != 0)) {
    return bad_input(
        fmt::format("the accelerators of an arm must be divisible by the {} nodes", nodes));
  }
  if (request.contended && request.cpus.empty()) {
    return bad_input("a contended run needs CPU slots, and the request has none");
  }
  if (request.concurrent && (request.cpus.size() < 2 || request.cpus.size() % 2 != 0)) {
    return bad_input(
        fmt::format("concurrent arms need an even number of CPU slots, at least 2, not {}; "
                    "add slots or set pairing = \"same-allocation\" in the spec",
                    request.cpus.size()));
  }
  if (request.steps && request.schedule.empty()) {
    return bad_input("arms by steps need a schedule, and the request has none");
  }
  if (request.more.size() + 1 > kBlockVariants) {
    return bad_input(fmt::format("a block holds at most {} variants, not {}", kBlockVariants,
                                 request.more.size() + 1));
  }
  return Ok{};
}

// Arm numbers, each once.
Result<std::vector<int>> sequence(const PairRequest& request) {
  const int arms = 2 + static_cast<int>(request.more.size());
  std::vector<int> all;
  for (int arm = 0; arm < arms; ++arm) all.push_back(arm);
  if (request.order.empty()) {
    if (!request.variant_second) std::ranges::rotate(all, all.begin() + 1);
    return all;
  }
  std::vector<int> sorted = request.order;
  std::ranges::sort(sorted);
  if (sorted == all) return request.order;
  return bad_input(fmt::format("the order {} must name each of the {} arms exactly once",
                               fmt::join(request.order, ","), arms));
}

std::vector<Arm> at_once(const PairRequest& request) {
  const auto middle = request.cpus.begin() + static_cast<std::ptrdiff_t>(request.cpus.size() / 2);
  const std::vector<int> halves[] = {{request.cpus.begin(), middle}, {middle, request.cpus.end()}};
  std::vector<Arm> arms;
  for (const int half : {0, 1}) {
    const bool is_a = (half == 0) == request.variant_second;
    const model::Plan& plan = is_a ? request.a : request.b;
    const std::string name = is_a ? "A" : "B";
    arms.push_back({name, name, &plan, first_of(halves[half], plan.cpus), half});
  }
  return arms;
}

}  // namespace

Result<std::vector<Arm>> arms_of(const PairRequest& request) {
  TRY(check(request));
  if (request.concurrent) return at_once(request);
  const std::vector<int> of_a = first_of(request.cpus, request.a.cpus);
  if (request.steps) return std::vector<Arm>{{"A", "steps", &request.a, of_a}};
  if (request.profile) {
    return std::vector<Arm>{{"A", "A", &request.a, of_a}, {"B", "profile", &request.a, of_a}};
  }
  std::vector<Arm> arms;
  for (const int arm : TRY(sequence(request))) {
    const model::Plan& plan = plan_of(request, arm);
    arms.push_back({name_of(arm), name_of(arm), &plan, first_of(request.cpus, plan.cpus)});
  }
  return arms;
}

std::optional<Nanos> too_dear_after(const Arm& arm, AcceleratorSeconds baseline, Nanos time_limit) {
  const bool is_variant = arm.name != "A" && arm.label == arm.name;
  if (!is_variant) return std::nullopt;
  const double seconds = kTooDear * baseline.count() / std::max(1, arm.plan->accelerators);
  const Nanos limit = from_seconds(seconds) + kStartAllowance;
  if (time_limit > Nanos{0} && limit >= time_limit) return std::nullopt;
  return limit;
}

void say_too_dear(model::Receipt& receipt) {
  receipt.never_runs = model::NeverRuns::kTooDear;
  receipt.reason = fmt::format("{}: stopped after {}, at {:g} times the baseline's cost",
                               name(receipt.never_runs), show_duration(receipt.wall), kTooDear);
}

Result<std::string> devices_for(const std::optional<std::string>& visible, int count, int half,
                                int each, int wanted) {
  if (count == 0) return std::string();
  std::vector<std::string> devices;
  if (visible) {
    if (trim(*visible).empty() || *visible == "-1") return std::string();
    for (const std::string_view device : split(*visible, ',')) devices.emplace_back(trim(device));
  } else {
    for (int device = 0; device < count; ++device) devices.push_back(std::to_string(device));
  }
  if (devices.size() < 2 * static_cast<std::size_t>(each)) {
    return bad_input(
        fmt::format("concurrent arms need {} GPUs ({} each), but there are {}; set "
                    "pairing = \"same-allocation\" in the spec",
                    2 * each, each, devices.size()));
  }
  const auto first = devices.begin() + static_cast<std::ptrdiff_t>(half) * each;
  return join(std::vector<std::string>(first, first + std::min(each, wanted)), ",");
}

}  // namespace amdahl::launch::local
