#include "launch/steps.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "model/codec.h"
#include "model/flags.h"
#include "stats/coin.h"

namespace amdahl::launch {
namespace {

constexpr std::size_t kWarmUpSteps = 2 * kWarmUpPairs;
constexpr std::string_view kMetric = "accelerator_seconds_per_work";

using Value = std::optional<std::string>;

// How a knob is passed to the job.
struct Group {
  const char* name;
  std::string model::Knob::*told_by;
};
constexpr Group kArgs{"args", &model::Knob::arg};
constexpr Group kEnv{"env", &model::Knob::env};
constexpr Group kConfig{"config", &model::Knob::config};

// The two arms' settings, as they grow.
class Both {
 public:
  Both(const model::Spec& spec, const std::function<std::string(std::string)>& fill)
      : spec_{spec}, fill_{fill} {}

  Result<> add(const Group& group, const std::string& name, const Value& in_a, const Value& in_b) {
    if (in_a == in_b) return Ok{};
    const bool is_knob = std::ranges::any_of(
        spec_.knobs, [&](const auto& knob) { return knob.second.*group.told_by == name; });
    if (!is_knob) {
      return bad_input(fmt::format(
          "{} is not a knob of the spec, so the job cannot switch it between steps", name));
    }
    a_[group.name][name] = in_a ? Json(fill_(*in_a)) : Json(nullptr);
    b_[group.name][name] = in_b ? Json(fill_(*in_b)) : Json(nullptr);
    return Ok{};
  }
  Json finish() const { return {{"A", a_}, {"B", b_}}; }

 private:
  const model::Spec& spec_;
  const std::function<std::string(std::string)>& fill_;
  Json a_ = Json::object();
  Json b_ = Json::object();
};

// The variable's value for a job of this plan: set, unset, or inherited from us.
Value variable(const model::Plan& plan, const std::string& name) {
  if (const auto set = plan.env.find(name); set != plan.env.end()) return set->second;
  if (std::ranges::find(plan.unset, name) != plan.unset.end()) return std::nullopt;
  const char* inherited = std::getenv(name.c_str());
  return inherited ? Value(inherited) : std::nullopt;
}

Value entry(const std::map<std::string, std::string>& from, const std::string& key) {
  const auto found = from.find(key);
  return found == from.end() ? std::nullopt : Value(found->second);
}

// The flags that occur in the command, by their first names.
void add_flags(const model::Spec& spec, const std::vector<std::string>& argv,
               std::set<std::string>& names) {
  for (std::size_t i = 1; i < argv.size() && argv[i] != "--"; ++i) {
    const std::string& word = argv[i];
    const bool dashed = word.size() > 1 && word.front() == '-' && !to_number<double>(word);
    const std::size_t equals = word.find('=');
    if (!dashed && (equals == word.npos || equals == 0)) continue;
    std::string spelling = word.substr(0, equals);
    const bool joined = dashed && word[1] != '-' && word.size() > 2 &&
                        to_number<double>(std::string_view(word).substr(2));
    if (joined) spelling.resize(2);  // "-b8".
    names.insert(model::flag_named(spec, spelling).name());
  }
}

Result<> add_args(const model::Spec& spec, const model::Plan& a, const model::Plan& b, Both& both) {
  const Error other = bad_input(
      "the arms' commands differ in more than flags, which a running process cannot switch; "
      "set pairing = \"same-allocation\" in the spec");
  if (a.argv.empty() || b.argv.empty() || a.argv.front() != b.argv.front()) return other;
  std::set<std::string> names;
  add_flags(spec, a.argv, names);
  add_flags(spec, b.argv, names);
  std::vector<std::string> words = a.argv;
  for (const std::string& name : names) {
    const model::Flag flag = model::flag_named(spec, name);
    const Value in_a = model::value_in(a.argv, flag);
    const Value in_b = model::value_in(b.argv, flag);
    if (in_a != in_b) TRY(model::set_flag(words, flag, in_b));
  }
  // Differences that flags do not explain are something else.
  std::vector<std::string> wanted = b.argv;
  std::ranges::sort(words);
  std::ranges::sort(wanted);
  if (words != wanted) return other;
  for (const std::string& name : names) {
    const model::Flag flag = model::flag_named(spec, name);
    TRY(both.add(kArgs, name, model::value_in(a.argv, flag), model::value_in(b.argv, flag)));
  }
  return Ok{};
}

// Steps that belong to whole pairs of the schedule.
std::size_t paired(const model::StepReports& steps, const std::string& schedule) {
  return std::min(steps.arms.size(), schedule.size()) / 2 * 2;
}

bool is_schedule(const std::string& schedule) {
  if (schedule.size() % 2 != 0 || schedule.size() <= kWarmUpSteps) return false;
  for (std::size_t i = 0; i < schedule.size(); i += 2) {
    const std::string_view pair = std::string_view(schedule).substr(i, 2);
    if (pair != "AB" && pair != "BA") return false;
  }
  return true;
}

bool is_failure(model::Ending ending) {
  return ending != model::Ending::kNotStarted && ending != model::Ending::kCancelled;
}

}  // namespace

std::string step_schedule(std::string_view seed, std::string_view hypothesis, int index,
                          int pairs) {
  const std::string about = fmt::format("{}|{}", hypothesis, index);
  std::string schedule;
  for (int pair = 0; pair < kWarmUpPairs + pairs; ++pair) {
    schedule += stats::coin(seed, about, pair) ? "AB" : "BA";
  }
  return schedule;
}

Result<Json> step_settings(const model::Spec& spec, const model::Plan& a, const model::Plan& b,
                           const std::function<std::string(std::string)>& fill) {
  const auto fixed = [](std::string_view what) {
    return bad_input(
        fmt::format("the arms differ in their {}, which a running process cannot switch; set "
                    "pairing = \"same-allocation\" in the spec",
                    what));
  };
  if (spec.metric != kMetric) {
    return bad_input(
        fmt::format("steps are compared by {}, but the spec's metric is {}; set pairing = "
                    "\"same-allocation\" in the spec",
                    kMetric, spec.metric));
  }
  if (a.patch != b.patch || a.needs_build != b.needs_build) return fixed("patches");
  if (a.inject != b.inject) return fixed("injections");
  if (a.accelerators != b.accelerators) return fixed("accelerators");
  if (a.cpus != b.cpus) return fixed("CPU slots");
  if (a.workdir != b.workdir) return fixed("folders");
  Both both(spec, fill);
  TRY(add_args(spec, a, b, both));
  std::set<std::string> names(a.unset.begin(), a.unset.end());
  names.insert(b.unset.begin(), b.unset.end());
  for (const auto& [name, value] : a.env) names.insert(name);
  for (const auto& [name, value] : b.env) names.insert(name);
  for (const std::string& name : names) {
    TRY(both.add(kEnv, name, variable(a, name), variable(b, name)));
  }
  std::map<std::string, std::string> places = a.config;
  places.insert(b.config.begin(), b.config.end());
  for (const auto& [place, value] : places) {
    TRY(both.add(kConfig, place, entry(a.config, place), entry(b.config, place)));
  }
  return both.finish();
}

Result<std::vector<model::StepPair>> step_pairs(const model::Receipt& whole,
                                                const std::string& schedule) {
  const model::StepReports& steps = whole.steps;
  const std::size_t count = steps.arms.size();
  if (!is_schedule(schedule)) {
    return bad_input(fmt::format("\"{}\" is not a step schedule", clip(schedule, 40)));
  }
  if (steps.seconds.size() != count || steps.work.size() != count) {
    return bad_input("the receipt has steps without a time or without work");
  }
  if (count < schedule.size() && !whole.report_problems.empty()) {
    return bad_input(fmt::format("only {} of {} steps could be read: {}", count, schedule.size(),
                                 whole.report_problems.front()));
  }
  if (count == 0) {
    return bad_input(
        "the job reported no steps: it must run the steps that AMDAHL_STEPS lists "
        "(docs/format/report.md)");
  }
  if (count > schedule.size()) {
    return bad_input(
        fmt::format("the job reported {} steps, but the schedule has {}", count, schedule.size()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (steps.arms[i] == schedule[i]) continue;
    return bad_input(
        fmt::format("step {} ran arm {}, but the schedule has {}", i, steps.arms[i], schedule[i]));
  }
  std::vector<model::StepPair> pairs;
  for (std::size_t i = kWarmUpSteps; i < paired(steps, schedule); i += 2) {
    const bool variant_second = schedule[i] == 'A';
    const std::size_t a = variant_second ? i : i + 1;
    const std::size_t b = variant_second ? i + 1 : i;
    const auto per_work = [&](std::size_t step) {
      return whole.accelerators * steps.seconds[step] / steps.work[step];
    };
    pairs.push_back({variant_second, per_work(a), per_work(b)});
  }
  if (pairs.empty()) {
    return bad_input(fmt::format("the job ended after {} step{}; the first {} are warm-up", count,
                                 count == 1 ? "" : "s", kWarmUpSteps));
  }
  return pairs;
}

char arm_under_way(std::size_t steps_done, const std::string& schedule) {
  return steps_done > 0 && steps_done < schedule.size() ? schedule[steps_done] : 'A';
}

model::Receipt step_share(const model::Receipt& whole, const std::string& schedule, char arm) {
  model::Receipt share = whole;
  const model::StepReports& steps = whole.steps;
  double seconds = 0;
  double work = 0;
  double all_seconds = 0;
  for (std::size_t i = 0; i < steps.arms.size() && i < steps.seconds.size(); ++i) {
    all_seconds += steps.seconds[i];
    if (i < kWarmUpSteps || i >= paired(steps, schedule) || steps.arms[i] != arm) continue;
    seconds += steps.seconds[i];
    work += i < steps.work.size() ? steps.work[i] : 0;
  }
  const double part = all_seconds > 0 ? seconds / all_seconds : 0;
  share.id = whole.id.substr(0, whole.id.rfind('/')) + "/" + arm;
  share.arm = arm;
  share.steps = {};
  share.wall = from_seconds(seconds);
  share.work = work > 0 ? std::optional(work) : std::nullopt;
  const auto divide = [&](Nanos& time) { time = from_seconds(part * to_seconds(time)); };
  divide(share.cpu_user);
  divide(share.cpu_system);
  divide(share.run_delay);
  divide(share.cgroup.throttled);
  share.phases.clear();
  share.utilisation = {};
  if (is_failure(whole.ending) && arm_under_way(steps.arms.size(), schedule) != arm) {
    share.ending = model::Ending::kExited;
    share.code = 0;
    share.reason = "";
  }
  model::seal(share);
  return share;
}

}  // namespace amdahl::launch
