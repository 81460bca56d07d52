#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/core.h>

#include "base/text.h"
#include "dream/classes.h"
#include "dream/dream.h"
#include "dream/knob_names.h"
#include "dream/settings.h"
#include "hypothesize/knob.h"
#include "hypothesize/operation.h"

namespace amdahl::dream {
namespace {

using hypothesize::Present;

constexpr double kPriorOfAWin = 0.35;  // It was proven once, on another job.
// For a win without a known cause, or a variable that only the other job may read.
constexpr double kPriorOfADoubtfulWin = 0.12;

// Translates a change from one job to another; the error says why that is impossible.
class Translator {
 public:
  Translator(const model::Spec& from, const model::Spec& to, const model::Change& baseline)
      : from_(from), to_(to), baseline_(baseline) {}

  Result<model::Change> run(const model::Change& win) {
    if (!win.patch.empty()) return bad_input("it is a patch for another repository");
    for (const auto& [flag, value] : win.args) TRY(move(knob_of_flag(flag), flag, value));
    for (const auto& [place, value] : win.config) TRY(move(knob_of_key(place), place, value));
    for (const auto& [name, value] : win.env) TRY(variable(name, value));
    if (win.accelerators) accelerators(*win.accelerators);
    change_.wrap = win.wrap;
    change_.inject = win.inject;
    return change_;
  }

  bool sets_private_variable() const { return private_variable_; }

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

  // A knob is moved by its name if both specs have it. A library's variable is copied. A variable
  // of the job itself is copied too, for related jobs may share it, unless it is a knob that we
  // lack.
  Result<> variable(const std::string& name, const std::optional<std::string>& value) {
    const model::Knob* knob =
        find_knob([&](const model::Knob& candidate) { return candidate.env == name; });
    if (knob != nullptr && (to_.knobs.contains(knob->name) || !only_tunes(name))) {
      return move(knob, name, value);
    }
    const model::Knob* ours = knob_for(name, to_);
    if (ours != nullptr && value) return set(*ours, *value);
    private_variable_ = private_variable_ || !only_tunes(name);
    change_.env[name] = value;
    return Ok{};
  }

  // `theirs` is null if the win changed something that its own spec does not name.
  Result<> move(const model::Knob* theirs, const std::string& name,
                const std::optional<std::string>& value) {
    if (theirs == nullptr) {
      return bad_input(fmt::format("{} is not a knob of {}", name, from_.family));
    }
    const auto found = to_.knobs.find(theirs->name);
    if (found == to_.knobs.end()) {
      return bad_input(fmt::format("the spec of {} has no knob {}", to_.family, theirs->name));
    }
    const model::Knob& ours = found->second;
    const Present present = hypothesize::present_of(to_, baseline_, ours);
    if (const auto on = switch_state(*theirs, ours, present, value)) {
      return set(ours, switched(ours, present, *on));
    }
    const auto moved = number_or_word(*theirs, ours, present, *value);
    if (!moved) {
      return bad_input(fmt::format("{} already has at least that: {} = {}", to_.family, ours.name,
                                   present.value));
    }
    return set(ours, *moved);
  }

  Result<> set(const model::Knob& ours, const std::optional<std::string>& value) {
    if (hypothesize::set_knob(ours, value, change_)) return Ok{};
    return bad_input(fmt::format("knob {} of {} cannot be unset", ours.name, to_.family));
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
  bool private_variable_ = false;
};

// Without the numbers of the job on which it was proven.
std::string mechanism_of(const Win& win) {
  const std::string& text = win.hypothesis.mechanism;
  const std::string saved =
      fmt::format("It saved {} of the cost of {}. {}", show_percent(-std::expm1(-win.gain)),
                  win.hypothesis.family, text.substr(0, text.find(" Here: ")));
  return std::string(trim(saved));
}

// Moves wins to one family.
class Mover {
 public:
  Mover(const std::map<std::string, model::Spec>& specs, const Target& target)
      : specs_(specs), target_(target) {}

  void move(const Win& win) {
    const model::Hypothesis& theirs = win.hypothesis;
    if (theirs.family == target_.spec.family || win.gain <= 0) return;
    Result<model::Hypothesis> moved = moved_over(win);
    if (moved) {
      dreams_.ideas.push_back(*std::move(moved));
    } else {
      dreams_.left_out.push_back(
          {model::describe(theirs.change), origin_of(win), moved.error().text});
    }
  }

  Dreams take() {
    dreams_.ideas = best_of_each(std::move(dreams_.ideas));
    return std::move(dreams_);
  }

 private:
  static std::string origin_of(const Win& win) {
    return fmt::format("win {} of {}", win.hypothesis.id, win.hypothesis.family);
  }

  // The ceiling stays unknown: no evidence shows what the change affects in this job.
  Result<model::Hypothesis> moved_over(const Win& win) const {
    const auto from = specs_.find(win.hypothesis.family);
    if (from == specs_.end()) {
      return bad_input(fmt::format("the spec of {} is gone", win.hypothesis.family));
    }
    const double share = share_of_class(target_.profile, win.against);
    const double gain = std::min(-std::expm1(-win.gain), share);
    if (gain < target_.limits.min_gain) {
      const bool unknown = win.against == model::Bottleneck::kUnknown;
      return bad_input(fmt::format(
          "it fixed {}, which costs {} {}", unknown ? "unexplained waiting" : describe(win.against),
          target_.spec.family, share > 0 ? "only " + show_percent(share) : "nothing"));
    }
    Translator translator(from->second, target_.spec, target_.baseline);
    const model::Change change = TRY(translator.run(win.hypothesis.change));
    model::Hypothesis hypothesis = TRY(hypothesize::from_change(
        target_.spec, target_.baseline, change, {"dream", origin_of(win)}, target_.hardware));
    hypothesis.bottleneck = win.against;
    // A person's idea is called by its change, which has another spelling here.
    const bool named = win.hypothesis.title != model::describe(win.hypothesis.change);
    if (named) hypothesis.title = win.hypothesis.title;
    hypothesis.mechanism = mechanism_of(win);
    hypothesis.predicted_gain = gain;
    const bool doubtful =
        win.against == model::Bottleneck::kUnknown || translator.sets_private_variable();
    hypothesis.prior = doubtful ? kPriorOfADoubtfulWin : kPriorOfAWin;
    hypothesis.profile = target_.profile.id;
    return hypothesis;
  }

  const std::map<std::string, model::Spec>& specs_;
  const Target& target_;
  Dreams dreams_;
};

}  // namespace

Dreams from_wins(std::span<const Win> wins, const std::map<std::string, model::Spec>& specs,
                 const Target& target) {
  Mover mover(specs, target);
  for (const Win& win : wins) mover.move(win);
  return mover.take();
}

}  // namespace amdahl::dream
