#include "profile/findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/text.h"
#include "profile/advice.h"
#include "profile/causes.h"
#include "profile/ceiling.h"
#include "profile/device_facts.h"
#include "scan/anatomy.h"

namespace amdahl::profile {
namespace {

// "jobs/train.py" is "/home/a/jobs/train.py"; both may be absolute.
bool is_same_file(std::string_view found, std::string_view seen) {
  if (found.empty() || !seen.ends_with(found)) return false;
  return seen.size() == found.size() || found.front() == '/' ||
         seen[seen.size() - found.size() - 1] == '/';
}

// A profiler that knows functions alone names the line where one starts.
bool covers(const LineCost& cost, const code::Finding& finding) {
  if (!is_same_file(finding.file, cost.file)) return false;
  return (cost.line >= finding.line && cost.line <= finding.end_line) ||
         (cost.line == finding.function_line && finding.function_line > 0);
}

// What was seen of a run that makes a rule's advice void: the source alone does not show it.
struct Refuted {
  std::string_view rule;
  std::string_view evidence;
  double from;
  double below;
};
constexpr auto kRefuted = std::to_array<Refuted>({
    {"loader-workers", "hook.loader_workers", 2, std::numeric_limits<double>::infinity()},
    {"loader-persistent", "hook.loader_workers", 0, 1},
    {"loader-prefetch", "hook.loader_workers", 0, 1},
    {"loader-persistent", "hook.loader_passes", 0, 2},
});

// Each worker of a streaming data set yields all of it: more workers would change the results.
constexpr std::string_view kOfAStream =
    "; the data set is a stream, so each worker must read only its part "
    "(torch.utils.data.get_worker_info())";

constexpr const char* kInputWait = "input_wait_share";

struct Proof {
  std::string name;
  double share = 0;
};

class Joined {
 public:
  Joined(const model::Profile& profile, std::span<const LineCost> lines)
      : profile_(profile), lines_(lines) {}

  std::vector<Finding> join(std::span<const code::Finding> found) const {
    // One habit in one function is one finding.
    std::map<std::tuple<std::string, std::string, int>, std::vector<const code::Finding*>> groups;
    for (const code::Finding& finding : found) {
      if (is_of_no_loader(finding)) continue;
      const int where = finding.function.empty() ? finding.line : finding.function_line;
      groups[{finding.rule, finding.file, where}].push_back(&finding);
    }
    std::vector<Finding> kept;
    for (const auto& [key, of] : groups) {
      if (auto finding = judge(of)) kept.push_back(*std::move(finding));
    }
    say_who_shares(kept);
    std::ranges::stable_sort(kept, [](const Finding& a, const Finding& b) {
      return std::tuple(-a.share, !a.measured, a.code.file, a.code.line) <
             std::tuple(-b.share, !b.measured, b.code.file, b.code.line);
    });
    return kept;
  }

 private:
  double wall_s() const { return to_seconds(profile_.wall); }

  std::optional<double> evidence(const std::string& name) const {
    const auto found = profile_.evidence.find(name);
    if (found == profile_.evidence.end() || !std::isfinite(found->second)) return std::nullopt;
    return found->second;
  }

  // The first of what it can explain that took any time.
  std::optional<Proof> cause_of(const code::Finding& finding) const {
    // The own time of a line that runs the model is unknown: it explains only its main evidence.
    const std::size_t most = finding.runs_model ? 1 : finding.explains.size();
    for (const std::string& name :
         std::span(finding.explains).first(std::min(most, finding.explains.size()))) {
      auto share = evidence(name);
      if (!share) continue;
      // The hook counts imports as a part of the start; a job's own phases stand side by side.
      const bool nested = name == "startup_share" && !has_phases();
      if (nested) *share -= evidence("import_share").value_or(0);
      if (*share >= kSmallestCause) return Proof{name, std::min(1.0, *share)};
    }
    return std::nullopt;
  }

  bool has_phases() const {
    const auto first = profile_.evidence.lower_bound("phase.");
    return first != profile_.evidence.end() && first->first.starts_with("phase.");
  }

  // The time of a line that also runs the model cannot be divided.
  double seconds_of(const code::Finding& finding) const {
    double seconds = 0;
    if (finding.runs_model) return seconds;
    for (const LineCost& cost : lines_) {
      if (covers(cost, finding)) seconds += cost.seconds;
    }
    return seconds;
  }

  // The run was seen to make its loaders, and none of them here.
  bool is_of_no_loader(const code::Finding& finding) const {
    if (!finding.rule.starts_with("loader-")) return false;
    bool any = false;
    for (const LineCost& cost : lines_) {
      any |= cost.makes_loader;
      if (cost.makes_loader && covers(cost, finding)) return false;
    }
    return any;
  }

  bool was_timed(const std::string& file) const {
    return std::ranges::any_of(lines_, [&](const LineCost& cost) {
      return !cost.waits_only && !cost.makes_loader && is_same_file(file, cost.file);
    });
  }

  // Batches were seen to be made in this file.
  bool makes_batches(const std::string& file) const {
    return std::ranges::any_of(lines_, [&](const LineCost& cost) {
      return cost.in_input && is_same_file(file, cost.file);
    });
  }

  // Lines of Python were looked at, and none of this file was met. Workers are not looked at.
  bool was_passed_over(const code::Finding& finding) const {
    const bool may_be_workers =
        evidence("hook.loader_workers").value_or(0) > 0 &&
        std::ranges::find(finding.explains, kInputWait) != finding.explains.end();
    if (may_be_workers || !finding.file.ends_with(".py")) return false;
    return std::ranges::any_of(lines_, [](const LineCost& cost) {
      return !cost.waits_only && cost.in_steps && cost.file.ends_with(".py");
    });
  }

  std::optional<Finding> judge(std::vector<const code::Finding*> of) const {
    const code::Finding& any = *of.front();
    if (!any.need.empty() && evidence(any.need).value_or(0) <= any.need_above) {
      return std::nullopt;
    }
    const bool refuted = std::ranges::any_of(kRefuted, [&](const Refuted& row) {
      const auto seen = evidence(std::string(row.evidence));
      return row.rule == any.rule && seen && *seen >= row.from && *seen < row.below;
    });
    if (refuted) return std::nullopt;
    const bool is_stream = evidence("hook.loader_workers") && !evidence("hook.dataset_len");
    std::vector<std::pair<double, const code::Finding*>> timed;
    for (const code::Finding* one : of) timed.emplace_back(seconds_of(*one), one);
    std::ranges::stable_sort(timed, [](const auto& a, const auto& b) { return a.first > b.first; });
    Finding finding;
    finding.code = *timed.front().second;
    for (std::size_t i = 1; i < timed.size(); ++i) {
      finding.more_lines.push_back(timed[i].second->line);
    }
    std::ranges::sort(finding.more_lines);
    if (is_stream && any.rule == "loader-workers") {
      finding.code.patch.clear();
      finding.code.suggestion += kOfAStream;
    }
    if (timed.front().first > 0 && any.cost != code::Cost::kElsewhere) {
      return measured(std::move(finding), timed);
    }
    return concluded(std::move(finding));
  }

  std::optional<Finding> measured(
      Finding finding, std::span<const std::pair<double, const code::Finding*>> timed) const {
    // Two findings may be the same line; its time counts once.
    double seconds = 0;
    double in_input = 0;
    for (const LineCost& cost : lines_) {
      const bool ours = std::ranges::any_of(timed, [&](const auto& one) {
        return !one.second->runs_model && covers(cost, *one.second);
      });
      if (ours) seconds += cost.seconds;
      if (ours && cost.in_input) in_input += cost.seconds;
    }
    if (wall_s() <= 0) return std::nullopt;
    finding.measured = true;
    if (const auto cause = cause_of(finding.code)) finding.cause = cause->name;
    // The time counts as waiting for input, whatever the line does.
    if (2 * in_input > seconds && evidence(kInputWait)) finding.cause = kInputWait;
    return priced(std::move(finding), std::min(1.0, seconds / wall_s()),
                  fmt::format("{} took {} of {}", lines_in(timed), show_seconds(seconds),
                              show_seconds(wall_s())));
  }

  // "its line", or of several that took time, "lines 33, 34".
  static std::string lines_in(std::span<const std::pair<double, const code::Finding*>> timed) {
    std::set<int> lines;
    for (const auto& [seconds, one] : timed) {
      if (seconds > 0) lines.insert(one->line);
    }
    if (lines.size() < 2) return "its line";
    return fmt::format("lines {}", fmt::join(lines, ", "));
  }

  std::optional<Finding> concluded(Finding finding) const {
    const code::Finding& code = finding.code;
    if (code.cost == code::Cost::kOnlyHere) return std::nullopt;
    // Lines were timed and this one took no time: it is not the cause.
    const bool is_alone = evidence("hook.loader_workers") == 0 &&
                          (code.how_often == code::HowOften::kStep || makes_batches(code.file));
    const bool must_show =
        (code.cost == code::Cost::kHere && !code.runs_model) || (code.rule == "decode" && is_alone);
    if (must_show && (was_timed(code.file) || was_passed_over(code))) return std::nullopt;
    const auto cause = cause_of(code);
    if (!cause) return std::nullopt;
    finding.cause = cause->name;
    return priced(std::move(finding), cause->share,
                  fmt::format("{} {} of {}", cause->name, show_percent(cause->share),
                              show_seconds(wall_s())));
  }

  // A line that waits for the device also waits while the device computes; no fix removes that.
  double at_most(const code::Finding& finding) const {
    const auto computes = evidence(kDeviceComputes);
    const bool waits = std::ranges::find(finding.explains, "sync_share") != finding.explains.end();
    return computes && waits ? 1 - *computes : 1;
  }

  std::optional<Finding> priced(Finding finding, double share, std::string because) const {
    if (const double most = at_most(finding.code); share > most) {
      share = most;
      because += fmt::format(", limited to the {} of the time in which the device did not compute",
                             show_percent(most));
    }
    if (share < kSmallestCause) return std::nullopt;
    finding.share = share;
    finding.accelerator_seconds = share * wall_s() * profile_.accelerators;
    finding.expected = scan::ceiling_of(share);
    const double unseen = finding.measured ? kUnseen : 0;
    const double reached = std::min(1.0, share + unseen + touched_by(finding.code));
    finding.ceiling = ceiling_without(taken_by_others(profile_.evidence), reached);
    finding.because = std::move(because);
    return finding;
  }

  double touched_by(const code::Finding& finding) const {
    double sum = 0;
    for (const std::string& name : finding.touches) {
      // Evidence that the rule explains is already counted in the share.
      const bool is_priced = std::ranges::find(finding.explains, name) != finding.explains.end();
      if (!is_priced) sum += evidence(name).value_or(0);
    }
    return sum;
  }

  static void say_who_shares(std::vector<Finding>& kept) {
    std::map<std::string, int> sharing;
    for (const Finding& finding : kept) {
      if (!finding.measured) ++sharing[finding.cause];
    }
    for (Finding& finding : kept) {
      if (finding.measured) continue;
      finding.sharing = sharing[finding.cause] - 1;
      if (finding.sharing > 0) {
        finding.because += fmt::format("; {} other {} may explain the same time", finding.sharing,
                                       finding.sharing == 1 ? "finding" : "findings");
      }
    }
  }

  const model::Profile& profile_;
  std::span<const LineCost> lines_;
};

}  // namespace

std::vector<Finding> findings(std::span<const code::Finding> found, const model::Profile& profile,
                              std::span<const LineCost> lines) {
  return Joined(profile, lines).join(found);
}

std::vector<LineCost> line_costs(const DeviceGaps& gaps) {
  std::vector<LineCost> costs;
  for (const GapPlace& place : gaps.places) {
    // "train.py:42 (main)".
    const std::string_view text = place.line;
    const auto bracket = text.find(" (");
    const auto colon = text.substr(0, bracket).rfind(':');
    if (colon == text.npos) continue;
    const auto line = to_number<int>(text.substr(0, bracket).substr(colon + 1));
    if (!line) continue;
    LineCost cost;
    cost.file = std::string(text.substr(0, colon));
    cost.line = *line;
    if (bracket != text.npos && text.ends_with(')')) {
      cost.function = std::string(text.substr(bracket + 2, text.size() - bracket - 3));
    }
    cost.in_steps = true;
    cost.seconds = to_seconds(place.time);
    costs.push_back(std::move(cost));
  }
  return costs;
}

double needless_imports(std::span<const Finding> findings) {
  double sum = 0;
  for (const Finding& finding : findings) {
    if (finding.measured && finding.code.rule == "unused-import") sum += finding.share;
  }
  return std::min(1.0, sum);
}

model::Bottleneck acts_on(const Finding& finding) {
  if (!finding.cause.empty()) return class_of(finding.cause);
  const auto& explains = finding.code.explains;
  return explains.empty() ? model::Bottleneck::kUnknown : class_of(explains.front());
}

model::Change change_of(const Finding& finding) {
  model::Change change;
  change.patch = finding.code.patch;
  change.needs_build =
      !change.patch.empty() && code::language_of(finding.code.file) == code::Language::kCpp;
  return change;
}

}  // namespace amdahl::profile
