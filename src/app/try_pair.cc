#include "app/try_pair.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/pairs.h"
#include "model/codec.h"
#include "model/plan.h"
#include "observe/supervisor.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"
#include "stats/coin.h"
#include "stats/estimate.h"

namespace amdahl::app {
namespace {

constexpr int kHopeless = 3;  // Void pairs in a row at the start.

Result<model::Spec> spec_from(const std::vector<std::string>& words, const std::string& arm) {
  if (words.empty()) {
    return bad_input(fmt::format("arm {} has no command; type: amdahl compare -- A ::: B", arm));
  }
  if (words.size() == 1 && words.front().ends_with(".toml")) {
    const std::string path = os::absolute(words.front());
    return model::parse_spec(TRY(os::read_file(path)), words.front(),
                             std::filesystem::path(path).parent_path().string());
  }
  model::Spec spec;
  spec.family = "compare-" + arm;
  spec.command = words;
  spec.workdir = std::filesystem::current_path().string();
  spec.accelerators = 1;
  spec.fixed_work = 1;
  // A script in this folder is what people mean, also without "./".
  if (os::exists(words.front()) && words.front().find('/') == std::string::npos) {
    spec.command.front() = "./" + words.front();
  }
  return spec;
}

class Trial {
 public:
  Trial(const TryOptions& options, std::string folder)
      : options_{options}, folder_{std::move(folder)} {}

  Result<model::Receipt> run(const model::Spec& spec, const std::string& arm, int index) {
    observe::RunOrder order;
    order.id = fmt::format("{}-{}", index, arm);
    order.family = spec.family;
    order.arm = arm;
    order.plan = TRY(make_plan(spec, {}));
    order.out_dir = fmt::format("{}/{}/{}", folder_, index, arm);
    order.state_dir = fmt::format("{}/state-{}", folder_, arm);
    order.time_limit = spec.time_limit;
    order.memory_limit_mb = spec.memory_limit_mb;
    order.work_pattern = spec.work_pattern;
    order.fixed_work = spec.fixed_work;
    for (const model::Output& output : spec.outputs) {
      if (output.digest) order.outputs.push_back(output.path);
    }
    order.inputs = spec.inputs;
    TRY(os::make_dirs(order.out_dir));
    TRY(os::make_dirs(order.state_dir));
    const model::Receipt receipt = TRY(observe::supervise(order, os::real_clock()));
    cancelled_ |= receipt.ending == model::Ending::kCancelled;
    return receipt;
  }

  // ^C reached the arm under way: it was passed on, and this is how we learn of it.
  bool cancelled() const { return cancelled_; }

  Result<model::PairFact> pair(int index, bool b_second) {
    ledger::Run about;
    about.reservation = fmt::format("pair-{}", index);
    about.purpose = "compare";
    about.index = index;
    about.variant_second = b_second;
    launch::Receipts receipts;
    if (b_second) receipts.a = TRY(run(options_.a, "A", index));
    receipts.b = TRY(run(options_.b, "B", index));
    if (!b_second) receipts.a = TRY(run(options_.a, "A", index));
    return fact_of(about, options_.a, receipts);
  }

 private:
  const TryOptions& options_;
  std::string folder_;
  bool cancelled_ = false;
};

Error hopeless(const std::vector<model::PairFact>& pairs) {
  return bad_input(
      fmt::format("the first {} pairs cannot be used: {}", pairs.size(), pairs.back().void_reason));
}

compare::Design design_for(const TryOptions& options) {
  compare::Design design;
  design.sigma = options.sigma;
  design.cap = options.pairs;
  const double claim = -std::log1p(-std::clamp(options.claim, 0.0, 0.95));
  design.delta = stats::futility_margin(claim, design.sigma);
  return design;
}

}  // namespace

Result<TryOptions> parse_try(const std::vector<std::string>& words) {
  const auto middle = std::ranges::find(words, ":::");
  if (middle == words.end()) {
    return bad_input("':::' must stand between the two commands; type: amdahl compare -- A ::: B");
  }
  TryOptions options;
  options.a = TRY(spec_from({words.begin(), middle}, "a"));
  options.b = TRY(spec_from({middle + 1, words.end()}, "b"));
  return options;
}

Result<TryOutcome> try_pairs(const Config& config, const TryOptions& options) {
  TryOutcome outcome;
  outcome.seed = os::random_hex(16);
  outcome.folder = fmt::format("{}/compare/{}", config.state_dir, outcome.seed);
  outcome.design = design_for(options);
  TRY(os::make_dirs(outcome.folder));
  Trial trial(options, outcome.folder);
  const auto stopped = [&] { return trial.cancelled() || (options.stopped && options.stopped()); };
  for (int i = 0; i < options.warm_up && !stopped(); ++i) {
    TRY(trial.run(options.a, "A", -i));
    TRY(trial.run(options.b, "B", -i));
  }
  const int most_tries = 2 * options.pairs + kHopeless;
  for (int index = 1; index <= most_tries && !stopped(); ++index) {
    const model::PairFact fact =
        TRY(trial.pair(index, stats::coin(outcome.seed, "compare", index)));
    if (stopped()) break;  // The arm under way was cut short: not a measurement.
    outcome.pairs.push_back(fact);
    outcome.outputs_differ |= !fact.voided && fact.a.output_digest != fact.b.output_digest;
    outcome.comparison =
        compare::judge(compare::resolved_prefix(outcome.pairs, {}, options.a), outcome.design);
    outcome.comparison.voided =
        static_cast<int>(std::ranges::count(outcome.pairs, true, &model::PairFact::voided));
    if (options.progress) options.progress(fact, outcome.comparison);
    if (outcome.comparison.pairs == 0 && index >= kHopeless) return hopeless(outcome.pairs);
    if (outcome.comparison.answer != model::Answer::kCannotTell) break;
    if (outcome.comparison.pairs >= options.pairs) break;
  }
  outcome.interrupted = stopped();
  TRY(os::write_file(outcome.folder + "/comparison.json", dump_json(encode(outcome.comparison))));
  return outcome;
}

}  // namespace amdahl::app
