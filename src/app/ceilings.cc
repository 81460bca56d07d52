#include "app/ceilings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "app/private_state.h"
#include "base/text.h"
#include "loop/order.h"
#include "observe/fixes.h"
#include "observe/supervisor.h"
#include "os/clock.h"
#include "os/host.h"
#include "profile/ceiling.h"
#include "stats/tests.h"

namespace amdahl::app {
namespace {

struct KnownCause {
  std::string_view name;
  const char* evidence;  // Its share of the profiled time.
};

constexpr auto kCauses = std::to_array<KnownCause>({{"input", "input_wait_share"},
                                                    {"logging", "logging_share"},
                                                    {"checkpoint", "checkpoint_share"}});

constexpr int kBaseline = 0;  // The place of the command as it is, in a block.

struct Run {
  model::Receipt receipt;
  double wall_s = 0;  // Without what it took to remove the cause.
};

Result<Run> run_without(const Config& config, const CeilingOptions& options,
                        const std::string& cause) {
  observe::RunOrder order = TRY(order_of(options.run));
  order.id = fmt::format("m-{}", os::random_hex(8));
  order.arm = "ceiling";
  order.out_dir = fmt::format("{}/profiles/{}", config.state_dir, order.id);
  order.state_dir = fmt::format("{}/jobs-state/{}", config.state_dir, order.family);
  if (!cause.empty()) order.plan.inject["ceiling-" + cause] = "";
  TRY(make_private_state(config.state_dir));
  TRY(make_state(order.out_dir));
  Run run;
  run.receipt = TRY(observe::supervise(order, os::real_clock()));
  const double wall_s = to_seconds(run.receipt.wall);
  run.wall_s = wall_s - std::min(observe::fixes_cost(order.out_dir), wall_s / 2);
  return run;
}

void conclude(const std::vector<double>& ratios, Ceiling& ceiling) {
  ceiling.pairs = static_cast<int>(ratios.size());
  if (ratios.size() < 2) {
    if (ceiling.problem.empty()) ceiling.problem = "it was stopped before two pairs were measured";
    return;
  }
  const stats::MeanInterval found = stats::mean_interval(ratios);
  ceiling.measured = std::exp(found.mean);
  ceiling.lower = std::exp(found.lower);
  ceiling.upper = std::exp(found.upper);
}

std::vector<Ceiling> start(const CeilingOptions& options, const model::Profile& profile) {
  std::vector<Ceiling> ceilings;
  for (const std::string& cause : options.causes) {
    const auto known = std::ranges::find(kCauses, cause, &KnownCause::name);
    Ceiling ceiling;
    ceiling.cause = cause;
    const auto share = profile.evidence.find(known->evidence);
    if (share != profile.evidence.end() && share->second > 0) {  // Else it is not seen, not absent.
      const double taken = profile::taken_by_others(profile.evidence);
      const double computed = profile::ceiling_without(taken, share->second);
      if (std::isfinite(computed)) ceiling.computed = computed;
    }
    ceilings.push_back(std::move(ceiling));
  }
  return ceilings;
}

}  // namespace

Result<> check_causes(const std::vector<std::string>& causes) {
  std::vector<std::string> names;
  for (const KnownCause& cause : kCauses) names.emplace_back(cause.name);
  for (const std::string& cause : causes) {
    if (std::ranges::find(names, cause) != names.end()) continue;
    return bad_input(fmt::format("'{}' cannot be removed from a job to measure it; there are {}",
                                 cause, join(names, ", ")));
  }
  return Ok{};
}

Result<std::vector<Ceiling>> measure_ceilings(const Config& config, const CeilingOptions& options,
                                              const model::Profile& profile) {
  TRY(check_causes(options.causes));
  std::vector<Ceiling> ceilings = start(options, profile);
  std::vector<std::vector<double>> ratios(ceilings.size());
  const std::string seed = os::random_hex(8);
  const auto stopped = [&] { return options.stopped && options.stopped(); };
  for (int pair = 0; pair < options.pairs && !stopped(); ++pair) {
    std::map<int, double> took;
    for (const int arm :
         loop::block_order(seed, "ceiling", pair, static_cast<int>(ceilings.size()) + 1)) {
      Ceiling* ceiling = arm == kBaseline ? nullptr : &ceilings[static_cast<std::size_t>(arm) - 1];
      if (stopped() || (ceiling && !ceiling->problem.empty())) continue;
      options.say(fmt::format("pair {} of {}: {}", pair + 1, options.pairs,
                              ceiling ? "without " + ceiling->cause : "as it is"));
      const Run run = TRY(run_without(config, options, ceiling ? ceiling->cause : ""));
      const model::Receipt& receipt = run.receipt;
      const bool good = succeeded(receipt) && receipt.never_runs == model::NeverRuns::kNo;
      if (good) took[arm] = run.wall_s;
      if (!good && !ceiling && !stopped()) {
        return external(fmt::format("the command as it is failed: {}", describe_ending(receipt)));
      }
      if (!good && ceiling) {
        ceiling->problem = succeeded(receipt) ? receipt.reason : describe_ending(receipt);
      }
    }
    for (std::size_t i = 0; i < ceilings.size(); ++i) {
      const auto without = took.find(static_cast<int>(i) + 1);
      if (!took.contains(kBaseline) || without == took.end()) continue;
      ratios[i].push_back(std::log(took.at(kBaseline) / without->second));
    }
  }
  for (std::size_t i = 0; i < ceilings.size(); ++i) conclude(ratios[i], ceilings[i]);
  return ceilings;
}

}  // namespace amdahl::app
