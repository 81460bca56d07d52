#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/redact.h"
#include "base/text.h"
#include "dream/classes.h"
#include "dream/dream.h"
#include "dream/settings.h"
#include "hypothesize/knob.h"

namespace amdahl::dream {
namespace {

using hypothesize::Entry;

constexpr double kEffectOfAVariable = 0.2;  // Of what its class costs.
constexpr double kPriorOfAVariable = 0.08;
constexpr double kPriorOffConditions = 0.4;  // Of an entry's prior, where its conditions fail.

struct Ground {
  const model::Spec& spec;
  const model::Change& baseline;
  const model::Profile& profile;  // With the knobs of the baseline.
  std::string_view hardware;
  const hypothesize::Limits& limits;
};

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// Lower case, everything else a single blank, so that "--batch-size" and "Batch size" are one.
std::string folded(std::string_view text) {
  std::string result = " ";
  for (const char c : lower(text)) {
    if (is_word(c)) {
      result += c;
    } else if (result.back() != ' ') {
      result += ' ';
    }
  }
  if (result.back() != ' ') result += ' ';
  return result;
}

// Names of one word, such as "threads", stand in every text and say nothing.
bool mentions_knob(const std::string& text, const std::string& knob) {
  const std::string name = folded(knob);
  const bool telling = std::ranges::count(name, ' ') > 2 || knob == "fsync";
  return telling && text.find(name) != std::string::npos;
}

bool mentions(const std::string& text, const Entry& entry) {
  if (text.find(folded(entry.title)) != std::string::npos) return true;
  return std::ranges::any_of(entry.knobs,
                             [&](const auto& knob) { return mentions_knob(text, knob.first); });
}

std::optional<model::Hypothesis> from_entry(const Entry& entry, const Passage& passage,
                                            const Ground& ground) {
  const bool lacking = std::ranges::any_of(
      entry.needs, [&](const std::string& need) { return ground.limits.absent.contains(need); });
  if (lacking) return std::nullopt;
  const auto change = hypothesize::resolve(entry, ground.spec, ground.baseline);
  if (!change) return std::nullopt;
  const hypothesize::Gain gain =
      hypothesize::gain_of(entry, ground.profile, ground.spec, ground.baseline, *change);
  if (gain.predicted < ground.limits.min_gain) return std::nullopt;
  auto made = hypothesize::from_change(ground.spec, ground.baseline, *change,
                                       {"dream", passage.document}, ground.hardware);
  if (!made) return std::nullopt;
  model::Hypothesis hypothesis = *std::move(made);
  std::string because;
  const bool applies = hypothesize::applies(entry, ground.profile, because);
  hypothesis.bottleneck = entry.bottleneck;
  hypothesis.title = entry.title;
  hypothesis.mechanism = fmt::format("{} {} speaks of it{}.", entry.mechanism, passage.document,
                                     applies ? "" : fmt::format("; here {}", because));
  hypothesis.predicted_gain = gain.predicted;
  hypothesis.ceiling_share = gain.ceiling;
  hypothesis.prior = applies ? entry.prior : entry.prior * kPriorOffConditions;
  hypothesis.profile = ground.profile.id;
  return hypothesis;
}

// As an entry, so that bounds of knobs and lists in variables are treated alike.
Entry entry_for(const Setting& setting, const model::Spec& spec) {
  Entry entry;
  for (const auto& [name, knob] : spec.knobs) {
    if (knob.arg.empty() && knob.env == setting.variable) {
      entry.knobs[name] = "=" + setting.value;
      return entry;
    }
  }
  entry.env[setting.variable] = setting.value;
  return entry;
}

bool is_too_many_threads(const Setting& setting, const Ground& ground) {
  if (!setting.variable.ends_with("NUM_THREADS")) return false;
  const int slots =
      std::max(ground.spec.cpus, hypothesize::accelerators_of(ground.spec, ground.baseline));
  return to_number<int>(setting.value).value_or(1) > slots;
}

std::optional<model::Hypothesis> from_setting(const Setting& setting, const Passage& passage,
                                              const Ground& ground) {
  const double first = share_of_class(ground.profile, setting.against);
  const double second = share_of_class(ground.profile, setting.also_against);
  const double gain = kEffectOfAVariable * std::max(first, second);
  if (gain < ground.limits.min_gain || is_too_many_threads(setting, ground)) return std::nullopt;
  const auto change =
      hypothesize::resolve(entry_for(setting, ground.spec), ground.spec, ground.baseline);
  if (!change) return std::nullopt;
  auto made = hypothesize::from_change(ground.spec, ground.baseline, *change,
                                       {"dream", passage.document}, ground.hardware);
  if (!made) return std::nullopt;
  model::Hypothesis hypothesis = *std::move(made);
  hypothesis.bottleneck = first >= second ? setting.against : setting.also_against;
  hypothesis.title = fmt::format("{}={}", setting.variable, setting.value);
  hypothesis.mechanism = fmt::format("{} says: \"{}\"", passage.document, redact(setting.sentence));
  hypothesis.predicted_gain = gain;
  hypothesis.prior = kPriorOfAVariable;
  hypothesis.profile = ground.profile.id;
  return hypothesis;
}

}  // namespace

std::vector<model::Hypothesis> from_passages(std::span<const Passage> passages,
                                             std::span<const Entry> playbook,
                                             const model::Spec& spec, const model::Change& baseline,
                                             const model::Profile& profile,
                                             std::string_view hardware,
                                             const hypothesize::Limits& limits) {
  const model::Profile present = hypothesize::on_baseline(profile, spec, baseline);
  const Ground ground{spec, baseline, present, hardware, limits};
  std::vector<model::Hypothesis> dreamt;
  const auto keep = [&](std::optional<model::Hypothesis> hypothesis) {
    if (hypothesis) dreamt.push_back(*std::move(hypothesis));
  };
  for (const Passage& passage : passages) {
    const std::string text = folded(passage.text);
    for (const Entry& entry : playbook) {
      if (mentions(text, entry)) keep(from_entry(entry, passage, ground));
    }
    for (const Setting& setting : settings_in(passage.text)) {
      keep(from_setting(setting, passage, ground));
    }
  }
  dreamt = best_of_each(std::move(dreamt));
  if (dreamt.size() > limits.at_most) dreamt.resize(limits.at_most);
  return dreamt;
}

}  // namespace amdahl::dream
