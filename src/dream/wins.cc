#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "dream/classes.h"
#include "dream/dream.h"
#include "hypothesize/knob.h"
#include "hypothesize/operation.h"

namespace amdahl::dream {
namespace {

using hypothesize::Present;

constexpr double kPriorOfAWin = 0.35;  // It was proven once, on another job.

// From one job's words into another's. Nothing anywhere means that the win cannot be moved.
class Translator {
 public:
  Translator(const model::Spec& from, const model::Spec& to, const model::Change& baseline)
      : from_(from), to_(to), baseline_(baseline) {}

  std::optional<model::Change> run(const model::Change& win) {
    if (!win.patch.empty()) return std::nullopt;
    bool whole = true;
    for (const auto& [flag, value] : win.args) whole = whole && move(knob_of_flag(flag), value);
    for (const auto& [place, value] : win.config) whole = whole && move(knob_of_key(place), value);
    for (const auto& [name, value] : win.env) whole = whole && variable(name, value);
    if (!whole) return std::nullopt;
    if (win.accelerators) accelerators(*win.accelerators);
    change_.wrap = win.wrap;
    return change_;
  }

 private:
  template <class Matches>
  const model::Knob* find_knob(const Matches& matches) const {
    for (const auto& [name, knob] : from_.knobs) {
      if (matches(knob)) return &knob;
    }
    return nullptr;
  }

  const model::Knob* knob_of_flag(const std::string& flag) const {
    return find_knob([&](const model::Knob& knob) {
      return knob.arg == flag || std::ranges::find(knob.aliases, flag) != knob.aliases.end();
    });
  }

  const model::Knob* knob_of_key(const std::string& place) const {
    return find_knob([&](const model::Knob& knob) { return knob.config == place; });
  }

  bool variable(const std::string& name, const std::optional<std::string>& value) {
    const model::Knob* knob =
        find_knob([&](const model::Knob& candidate) { return candidate.env == name; });
    if (knob != nullptr && to_.knobs.contains(knob->name)) return move(knob, value);
    change_.env[name] = value;
    return true;
  }

  // `theirs` is null if the win touched what its own spec does not name.
  bool move(const model::Knob* theirs, const std::optional<std::string>& value) {
    if (theirs == nullptr) return false;
    const auto found = to_.knobs.find(theirs->name);
    if (found == to_.knobs.end()) return false;
    const model::Knob& ours = found->second;
    const Present present = hypothesize::present_of(to_, baseline_, ours);
    if (const auto on = switch_state(*theirs, ours, present, value)) {
      return hypothesize::set_knob(ours, switched(ours, present, *on), change_);
    }
    const auto moved = number_or_word(*theirs, ours, present, *value);
    return moved && hypothesize::set_knob(ours, *moved, change_);
  }

  // Whether the win turned a switch on or off; nothing if it set a number or a word.
  static std::optional<bool> switch_state(const model::Knob& theirs, const model::Knob& ours,
                                          const Present& present,
                                          const std::optional<std::string>& value) {
    if (!value) return false;
    if (value->empty()) return true;
    if (*value == theirs.on) return true;
    if (*value == theirs.off) return false;
    const bool counts = theirs.min || theirs.max || ours.min || ours.max;
    const bool word = *value == "0" || *value == "1";
    if (word && !counts && present.value.empty()) return *value == "1";
    return std::nullopt;
  }

  // A number that went up there must go up here too, and stay within our bounds.
  static std::optional<std::string> number_or_word(const model::Knob& theirs,
                                                   const model::Knob& ours, const Present& present,
                                                   const std::string& value) {
    const auto after = to_number<double>(value);
    if (!after) return value;
    const double wanted = std::clamp(*after, ours.min.value_or(*after), ours.max.value_or(*after));
    const auto before = to_number<double>(theirs.value);
    const auto now = to_number<double>(present.value);
    if (before && now) {
      if (*after > *before && wanted <= *now) return std::nullopt;
      if (*after < *before && wanted >= *now) return std::nullopt;
    }
    return hypothesize::spell(wanted);
  }

  void accelerators(int after) {
    const int now = hypothesize::accelerators_of(to_, baseline_);
    const double ratio = static_cast<double>(after) / from_.accelerators;
    const int wanted = std::max(1, static_cast<int>(std::ceil(now * ratio)));
    if (wanted < now) change_.accelerators = wanted;
  }

  const model::Spec& from_;
  const model::Spec& to_;
  const model::Change& baseline_;
  model::Change change_;
};

// Without the numbers of the job that it was proven on.
std::string mechanism_of(const Win& win) {
  const std::string& text = win.hypothesis.mechanism;
  return fmt::format("It saved {} of the cost of {}. {}", show_percent(-std::expm1(-win.gain)),
                     win.hypothesis.family, text.substr(0, text.find(" Here: ")));
}

// Nothing says what the change reaches in this job, so its ceiling stays unknown.
model::Hypothesis dressed(model::Hypothesis hypothesis, const Win& win,
                          const model::Profile& profile) {
  hypothesis.bottleneck = win.hypothesis.bottleneck;
  hypothesis.title = win.hypothesis.title;
  hypothesis.mechanism = mechanism_of(win);
  hypothesis.predicted_gain =
      std::min(-std::expm1(-win.gain), share_of_class(profile, win.hypothesis.bottleneck));
  hypothesis.prior = kPriorOfAWin;
  hypothesis.profile = profile.id;
  return hypothesis;
}

}  // namespace

std::vector<model::Hypothesis> from_wins(std::span<const Win> wins,
                                         const std::map<std::string, model::Spec>& specs,
                                         const model::Spec& spec, const model::Change& baseline,
                                         const model::Profile& profile, std::string_view hardware) {
  std::vector<model::Hypothesis> dreamt;
  for (const Win& win : wins) {
    const model::Hypothesis& theirs = win.hypothesis;
    const auto from = specs.find(theirs.family);
    if (theirs.family == spec.family || from == specs.end() || win.gain <= 0) continue;
    if (share_of_class(profile, theirs.bottleneck) <= 0) continue;
    const auto change = Translator(from->second, spec, baseline).run(theirs.change);
    if (!change) continue;
    auto hypothesis = hypothesize::from_change(
        spec, baseline, *change, {"dream", fmt::format("win {} of {}", theirs.id, theirs.family)},
        hardware);
    if (hypothesis) dreamt.push_back(dressed(*std::move(hypothesis), win, profile));
  }
  return best_of_each(std::move(dreamt));
}

}  // namespace amdahl::dream
