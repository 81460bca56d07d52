#include "profile/line_causes.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/text.h"
#include "profile/advice.h"
#include "profile/causes.h"
#include "profile/classify.h"
#include "profile/device_facts.h"
#include "profile/wait_lines.h"

namespace amdahl::profile {
namespace {

using model::Bottleneck;
using model::Cause;

constexpr double kGoodPart = 0.3;   // Of a cause: what a line must have taken to be named for it.
constexpr double kNoMore = 1.1;     // Of a cause: what took more than that is something else.
constexpr double kSmallPart = 0.1;  // Of a cause: a line that took less is not behind it.
constexpr double kHeld = 0.5;  // Of a line's time: a cause of the same class that holds as much
                               // is taken to hold it.

// "range-check" is "range check in the code".
std::string name_of(const Finding& finding) {
  std::string words = finding.code.rule;
  std::ranges::replace(words, '-', ' ');
  return words + " in the code";
}

std::string id_of(const Finding& finding) { return std::string(kInCode) + finding.code.rule; }

bool is_held(const Finding& finding, const std::vector<Cause>& causes) {
  return std::ranges::any_of(causes, [&](const Cause& cause) {
    return cause.bottleneck == acts_on(finding) && cause.share >= kHeld * finding.share;
  });
}

// A line that took longer than the cause of its class tells all of that, and where.
bool tells(const Finding& finding, const Cause& cause) {
  return is_of_devices(cause) && cause.bottleneck == acts_on(finding) &&
         cause.share <= finding.share;
}

// What a cause's time may have gone to.
const std::optional<LineCost>& line_for(const HotLines& hot, const Cause& cause) {
  static const std::optional<LineCost> kNoLine;
  if (cause.id == causes::kImports.id) return hot.import;
  if (cause.id == causes::kStartup.id) return hot.startup;
  if (cause.bottleneck == Bottleneck::kInput) return hot.input;
  return cause.bottleneck == Bottleneck::kSerial ? hot.step : kNoLine;
}

void keep_dearest(const LineCost& line, std::optional<LineCost>& most) {
  if (!most || line.seconds > most->seconds) most = line;
}

// What a fix that is shown with a cause can gain, the cause does not limit: it may shorten more
// than the time that the cause was seen to take.
void raise_ceilings(std::span<const Finding> findings, std::vector<Cause>& causes) {
  for (Cause& cause : causes) {
    const Finding* behind = finding_behind(findings, cause);
    if (behind == nullptr) continue;
    cause.ceiling = std::max(cause.ceiling, behind->ceiling);
    const Finding* beside = finding_beside(findings, *behind, cause);
    if (beside != nullptr) cause.ceiling = std::max(cause.ceiling, beside->ceiling);
  }
}

}  // namespace

void add_line_causes(std::span<const Finding> findings, model::Profile& profile) {
  const std::vector<Cause> known = profile.causes;
  std::set<std::pair<std::string, int>> lines;  // Two rules may speak of one line: it took once.
  for (const Finding& finding : findings) {
    if (!finding.measured || finding.share < kCauseThatCounts || is_held(finding, known)) continue;
    if (!lines.emplace(finding.code.file, finding.code.line).second) continue;
    std::erase_if(profile.causes, [&](const Cause& cause) { return tells(finding, cause); });
    Cause cause;
    cause.id = id_of(finding);
    cause.name = name_of(finding);
    cause.bottleneck = acts_on(finding);
    cause.share = finding.share;
    cause.accelerator_seconds = finding.accelerator_seconds;
    cause.ceiling = finding.ceiling;
    cause.because = finding.because;
    profile.causes.push_back(std::move(cause));
  }
  raise_ceilings(findings, profile.causes);
  std::ranges::stable_sort(profile.causes, std::ranges::greater{}, &Cause::share);
  // Without a cause that counts the class is what it was.
  const bool counts = !profile.causes.empty() && profile.causes.front().share >= kCauseThatCounts;
  if (counts) conclude(profile);
}

const Finding* finding_behind(std::span<const Finding> findings, const model::Cause& cause) {
  const Finding* best = nullptr;
  for (const Finding& finding : findings) {
    if (finding.measured && id_of(finding) == cause.id) return &finding;
    if (acts_on(finding) != cause.bottleneck) continue;
    if (finding.measured && finding.share < kSmallPart * cause.share) continue;
    if (best == nullptr || (finding.measured && !best->measured)) best = &finding;
  }
  const bool is_of_class =
      cause.bottleneck != Bottleneck::kUnknown && !cause.id.starts_with(kInCode);
  return is_of_class ? best : nullptr;
}

const Finding* finding_beside(std::span<const Finding> findings, const Finding& first,
                              const model::Cause& cause) {
  if (id_of(first) == cause.id) return nullptr;
  const auto found = std::ranges::find_if(findings, [&](const Finding& other) {
    const bool is_same = other.code.file == first.code.file && other.code.line == first.code.line;
    return !is_same && acts_on(other) == cause.bottleneck;
  });
  return found == findings.end() ? nullptr : &*found;
}

std::string advice_on(std::span<const Finding> findings, const model::Cause& cause,
                      Framework framework) {
  const Finding* behind = finding_behind(findings, cause);
  const bool is_most =
      behind != nullptr && behind->measured && behind->share >= kHeld * cause.share;
  if (is_most) return behind->code.suggestion;
  return std::string(what_to_try(cause, framework));
}

HotLines hot_lines(std::span<const LineCost> lines, std::span<const code::LineRange> models) {
  HotLines hot;
  for (const LineCost& line : lines) {
    if (!line.in_steps && !line.imports) keep_dearest(line, hot.startup);
    const bool runs_model = std::ranges::any_of(
        models, [&](const code::LineRange& model) { return model.holds(line.file, line.line); });
    if (line.imports) keep_dearest(line, hot.import);
    if (line.in_input) keep_dearest(line, hot.input);
    if (line.in_steps && !line.in_input && !runs_model) keep_dearest(line, hot.step);
  }
  return hot;
}

std::string hot_line_of(const HotLines& hot, const model::Cause& cause, double wall_s) {
  // When a step waits for loaders, show the loaders' line, not the line that waits.
  if (cause.bottleneck == Bottleneck::kInput && hot.loader && hot.loader->share >= kGoodPart) {
    return fmt::format("{} took {} of the loaders' time, {}", show(hot.loader->line),
                       show_percent(hot.loader->share), show_seconds(hot.loader->seconds));
  }
  const std::optional<LineCost>& line = line_for(hot, cause);
  const double cost_s = cause.share * wall_s;
  if (!line || line->seconds < kGoodPart * cost_s || line->seconds > kNoMore * cost_s) return "";
  return fmt::format("{} took {} of it", show(StackLine{line->file, line->line, line->function}),
                     show_seconds(line->seconds));
}

std::string hot_line_of(std::span<const Finding> findings, const HotLines& hot,
                        const model::Cause& cause, double wall_s) {
  const Finding* behind = finding_behind(findings, cause);
  return behind != nullptr && behind->measured ? "" : hot_line_of(hot, cause, wall_s);
}

}  // namespace amdahl::profile
