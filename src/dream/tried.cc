#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "dream/classes.h"
#include "dream/dream.h"
#include "hypothesize/knob.h"

namespace amdahl::dream {
namespace {

constexpr double kPriorOfANeighbour = 0.15;
constexpr double kPriorOfAnOpposite = 0.10;
constexpr double kPriorOfBoth = 0.12;
constexpr double kPartOfTheGain = 0.5;  // The first step found most of it.
constexpr std::size_t kMostTogether = 3;

// The only setting of a change, if it is a number that a variable or a flag has.
struct NumberSetting {
  bool is_env = false;
  std::string name;
  double value = 0;
};
std::optional<NumberSetting> number_of(const model::Change& change) {
  const bool alone = change.env.size() + change.args.size() == 1 && change.config.empty() &&
                     change.inject.empty() && change.wrap.empty() && change.patch.empty() &&
                     !change.accelerators;
  if (!alone) return std::nullopt;
  const auto& [name, text] = change.env.empty() ? *change.args.begin() : *change.env.begin();
  const auto value = text ? to_number<double>(*text) : std::nullopt;
  if (!value || *value <= 0) return std::nullopt;
  return NumberSetting{!change.env.empty(), name, *value};
}

model::Change set_to(const NumberSetting& setting, double value) {
  model::Change change;
  const std::string text =
      value == std::round(value) ? fmt::format("{:.0f}", value) : fmt::format("{:g}", value);
  (setting.is_env ? change.env : change.args)[setting.name] = text;
  return change;
}

const model::Knob* knob_of(const NumberSetting& setting, const model::Spec& spec) {
  for (const auto& [name, knob] : spec.knobs) {
    if (setting.name == (setting.is_env ? knob.env : knob.arg)) return &knob;
  }
  return nullptr;
}

bool is_allowed(const model::Knob* knob, double value) {
  return knob == nullptr || (value >= knob->min.value_or(value) &&
                             value <= knob->max.value_or(value) && knob->effect != "semantic");
}

class HistoryReader {
 public:
  explicit HistoryReader(const Target& target) : target_(target) {}

  // Twice and half of a value that won. One that does nothing new is dropped by from_change().
  void neighbours(const Tried& won) {
    const auto setting = number_of(won.hypothesis.change);
    if (!setting) return;
    const model::Knob* knob = knob_of(*setting, target_.spec);
    const bool whole = setting->value == std::round(setting->value);
    for (const double value : {setting->value * 2, setting->value / 2}) {
      if ((whole && value != std::round(value)) || !is_allowed(knob, value)) continue;
      // The job's initial value was measured too: it lost.
      if (knob != nullptr && to_number<double>(knob->value) == value) continue;
      keep(set_to(*setting, value), won,
           fmt::format("neighbour of {} ({})", won.hypothesis.id, describe(won.hypothesis.change)),
           kPriorOfANeighbour);
    }
  }

  // As far from the baseline as what harmed, and to the other side.
  void opposite(const Tried& harmed) {
    const auto setting = number_of(harmed.hypothesis.change);
    const model::Knob* knob = setting ? knob_of(*setting, target_.spec) : nullptr;
    if (knob == nullptr) return;
    const auto present =
        to_number<double>(hypothesize::present_of(target_.spec, target_.baseline, *knob).value);
    if (!present || *present <= 0 || *present == setting->value) return;
    const double value = std::round(*present * *present / setting->value);
    if (value < 1 || value == *present || !is_allowed(knob, value)) return;
    keep(set_to(*setting, value), harmed,
         fmt::format("opposite of {} ({})", harmed.hypothesis.id,
                     describe(harmed.hypothesis.change)),
         kPriorOfAnOpposite);
  }

  // Two changes that seemed to help but could not be shown alone may be shown together.
  void both(const Tried& first, const Tried& second) {
    const model::Change together = combine(first.hypothesis.change, second.hypothesis.change);
    if (!first.hypothesis.change.patch.empty() && !second.hypothesis.change.patch.empty()) return;
    Tried sum = first;
    sum.effect = (first.effect + second.effect) / kPartOfTheGain;
    const std::string names = fmt::format("{} and {}", first.hypothesis.id, second.hypothesis.id);
    // A model's code stays a model's, and is run as such.
    model::Origin origin{"dream", names};
    for (const Tried* part : {&first, &second}) {
      if (is_agents_patch(part->hypothesis)) origin = part->hypothesis.origin;
    }
    keep(together, sum, names, kPriorOfBoth, origin);
  }

  Dreams take() {
    dreams_.ideas = best_of_each(std::move(dreams_.ideas));
    return std::move(dreams_);
  }

 private:
  void keep(const model::Change& change, const Tried& from, const std::string& origin,
            double prior) {
    keep(change, from, origin, prior, {"dream", origin});
  }
  void keep(const model::Change& change, const Tried& from, const std::string& origin, double prior,
            const model::Origin& by) {
    auto made =
        hypothesize::from_change(target_.spec, target_.baseline, change, by, target_.hardware);
    const double gain = kPartOfTheGain * (1 - std::exp(-std::abs(from.effect)));
    if (made && gain >= target_.limits.min_gain) {
      model::Hypothesis h = *std::move(made);
      h.bottleneck = from.hypothesis.bottleneck;
      h.predicted_gain = gain;
      h.ceiling_share = from.hypothesis.ceiling_share;
      h.prior = prior;
      h.profile = target_.profile.id;
      h.mechanism = fmt::format("{}: {}", origin, from.hypothesis.mechanism);
      dreams_.ideas.push_back(std::move(h));
      return;
    }
    dreams_.left_out.push_back(
        {describe(change), origin,
         made ? fmt::format("it would save {} at most", show_percent(gain)) : made.error().text});
  }

  const Target& target_;
  Dreams dreams_;
};

}  // namespace

Dreams from_tried(std::span<const Tried> tried, const Target& target) {
  HistoryReader reader(target);
  std::vector<const Tried*> unsure;
  for (const Tried& past : tried) {
    if (past.state == "promoted") reader.neighbours(past);
    if (past.state == "harmful") reader.opposite(past);
    const bool open = past.state == "parked" || past.state == "inconclusive";
    if (open && past.effect > 0) unsure.push_back(&past);
  }
  std::ranges::stable_sort(unsure, std::ranges::greater{}, &Tried::effect);
  unsure.resize(std::min(unsure.size(), kMostTogether));
  for (std::size_t i = 0; i < unsure.size(); ++i) {
    for (std::size_t j = i + 1; j < unsure.size(); ++j) reader.both(*unsure[i], *unsure[j]);
  }
  return reader.take();
}

}  // namespace amdahl::dream
