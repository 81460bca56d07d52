#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "dream/classes.h"
#include "dream/dream.h"
#include "dream/knob_names.h"
#include "dream/prose.h"
#include "dream/settings.h"
#include "hypothesize/knob.h"
#include "model/plan.h"

namespace amdahl::dream {
namespace {

using hypothesize::Entry;
using model::Bottleneck;

constexpr double kEffectOfASetting = 0.2;  // Of what its class costs.
constexpr double kPriorOfASetting = 0.08;
constexpr int kWordsThatTell = 3;            // A shorter title may occur in any text.
constexpr double kPriorOffConditions = 0.4;  // Of an entry's prior, where its conditions fail.

// The position in a passage that is being read.
struct Mention {
  const Passage& passage;
  const Sentence& sentence;
  const std::vector<Bottleneck>& classes;  // Bottlenecks that the passage names.
  std::size_t at = 0;                      // In the sentence's text.

  std::string ref() const {
    const auto breaks = std::ranges::count(sentence.text.substr(0, at), '\n');
    return fmt::format("{}:{}", passage.document, passage.line + sentence.line + breaks);
  }
  std::string says() const { return fmt::format("{} says: \"{}\"", ref(), quoted(sentence)); }
};

// How much a change may save here, and how sure that is.
struct Estimate {
  double predicted = 0;
  double ceiling = 0;  // 0 if unknown.
  double prior = kPriorOfASetting;
  Bottleneck bottleneck = Bottleneck::kUnknown;
};

std::size_t word_at(const Sentence& sentence, std::size_t at) {
  const auto word = std::ranges::find_if(sentence.words, [&](const Word& w) { return w.end > at; });
  return static_cast<std::size_t>(word - sentence.words.begin());
}

std::string named(const KnobMention& said) {
  if (said.value) return fmt::format("{}={}", said.knob, *said.value);
  if (said.way == Direction::kUnstated) return said.knob;
  return fmt::format("{} {}", said.way == Direction::kMore ? "more" : "less", said.knob);
}

// Reads passages for one family.
class Reader {
 public:
  // `target` has the profile with the knobs of the baseline.
  Reader(std::span<const Entry> playbook, const Target& target)
      : playbook_(playbook), target_(target) {}

  void read(const Passage& passage) {
    const std::vector<Bottleneck> classes =
        classes_named(folded(passage.heading + "\n" + passage.text));
    for (const Sentence& sentence : sentences_in(passage.text)) {
      const Mention place{passage, sentence, classes};
      for (const Entry& entry : playbook_) title(entry, place);
      for (const Setting& setting : settings_in(sentence.text)) variable(setting, place);
      for (const KnobMention& said : knobs_in(sentence, target_.spec)) knob(said, place);
    }
  }

  Dreams take() {
    dreams_.ideas = best_of_each(std::move(dreams_.ideas));
    if (dreams_.ideas.size() > target_.limits.at_most) {
      dreams_.ideas.resize(target_.limits.at_most);
    }
    return std::move(dreams_);
  }

 private:
  void keep(Result<model::Hypothesis> made, const std::string& what, const Mention& place) {
    if (made) {
      dreams_.ideas.push_back(*std::move(made));
      return;
    }
    const auto same = [&](const RejectedIdea& other) {
      return other.what == what && other.because == made.error().text;
    };
    if (std::ranges::none_of(dreams_.left_out, same)) {
      dreams_.left_out.push_back({what, place.ref(), made.error().text});
    }
  }

  Error advised_against() const { return bad_input("the text advises against it"); }

  void title(const Entry& entry, Mention place) {
    const std::vector<std::size_t> found = positions_of(place.sentence, folded(entry.title));
    if (found.empty()) return;
    const auto words = std::ranges::count(entry.title, ' ') + 1;
    if (words < kWordsThatTell && !speaks_of_any({entry.bottleneck}, place)) return;
    place.at = place.sentence.words[found.front()].start;
    const bool against = advises_against(place.sentence, found.front());
    keep(against ? advised_against() : from_entry(entry, place), entry.title, place);
  }

  void variable(const Setting& setting, Mention place) {
    place.at = setting.at;
    const std::string what = fmt::format("{}={}", setting.variable, setting.value);
    if (advises_against(place.sentence, word_at(place.sentence, setting.at))) {
      return keep(advised_against(), what, place);
    }
    const model::Knob* knob = knob_for(setting.variable, target_.spec);
    if (knob != nullptr) return keep(from_value(knob->name, setting.value, place), what, place);
    keep(from_setting(setting, place), what, place);
  }

  void knob(const KnobMention& said, Mention place) {
    place.at = place.sentence.words[said.first].start;
    const bool vague = said.everyday || (!said.value && said.way == Direction::kUnstated);
    if (vague && !speaks_of_any(classes_of(said.knob), place)) return;
    if (advises_against(place.sentence, said.first)) {
      return keep(advised_against(), named(said), place);
    }
    if (!target_.spec.knobs.contains(said.knob)) {
      if (costliest(target_.profile, classes_of(said.knob))) keep(no_knob(said), said.knob, place);
      return;
    }
    if (said.value) return keep(from_value(said.knob, *said.value, place), named(said), place);
    for (const Entry& entry : playbook_) {
      if (!entry.knobs.contains(said.knob)) continue;
      const Direction way = way_of(entry, said.knob);
      if (said.way == Direction::kUnstated || said.way == way) {
        keep(from_entry(entry, place), entry.title, place);
      }
    }
  }

  Error no_knob(const KnobMention& said) const {
    return bad_input(
        fmt::format("the spec of {} has no knob {}; if the job has it, add [knobs.{}] to the spec",
                    target_.spec.family, said.knob, said.knob));
  }

  // "Workers" is ambiguous. It counts only if the text also names the bottleneck that they cure.
  static bool speaks_of_any(const std::vector<Bottleneck>& classes, const Mention& place) {
    return std::ranges::find_first_of(classes, place.classes) != classes.end();
  }

  // The classes that the playbook says the knob addresses.
  std::vector<Bottleneck> classes_of(const std::string& knob) const {
    std::vector<Bottleneck> classes;
    for (const Entry& entry : playbook_) {
      if (entry.knobs.contains(knob)) classes.push_back(entry.bottleneck);
    }
    return classes;
  }

  // Which way a change turns the knob.
  Direction way_of(const model::Change& change, const std::string& name) const {
    const model::Knob& knob = target_.spec.knobs.at(name);
    const auto before = hypothesize::present_of(target_.spec, target_.baseline, knob);
    const auto after =
        hypothesize::present_of(target_.spec, model::combine(target_.baseline, change), knob);
    const auto from = to_number<double>(before.value);
    const auto to = to_number<double>(after.value);
    if (from && to) return *to > *from ? Direction::kMore : Direction::kLess;
    if (!is_switch(name)) return to == 0 ? Direction::kLess : Direction::kMore;
    const auto off = hypothesize::switched(knob, before, false);
    const bool is_off = off ? after.set && after.value == *off : !after.set;
    return is_off ? Direction::kLess : Direction::kMore;
  }

  Direction way_of(const Entry& entry, const std::string& knob) const {
    const auto change = hypothesize::resolve(entry, target_.spec, target_.baseline);
    return change ? way_of(*change, knob) : Direction::kUnstated;
  }

  Error saves_nothing(std::vector<Bottleneck> classes, const Mention& place) const {
    classes.insert(classes.end(), place.classes.begin(), place.classes.end());
    const auto cost = costliest(target_.profile, classes);
    if (cost) {
      return bad_input(fmt::format("it addresses {}, which costs {} only {}",
                                   describe(cost->bottleneck), target_.spec.family,
                                   show_percent(cost->share)));
    }
    return bad_input(fmt::format("it addresses nothing that costs {} time ({})",
                                 target_.spec.family,
                                 classes.empty() ? "unknown" : describe(classes.front())));
  }

  // Over the classes that it is known to address and those named in the passage.
  std::optional<Estimate> by_class(std::vector<Bottleneck> classes, const Mention& place) const {
    classes.insert(classes.end(), place.classes.begin(), place.classes.end());
    const auto cost = costliest(target_.profile, classes);
    const double gain = cost ? kEffectOfASetting * cost->share : 0;
    if (gain < target_.limits.min_gain) return std::nullopt;
    return Estimate{gain, 0, kPriorOfASetting, cost->bottleneck};
  }

  // As the best entry that turns the knob the same way has it; else by the class.
  std::optional<Estimate> by_playbook(const std::string& knob, const model::Change& change,
                                      const Mention& place) const {
    std::optional<Estimate> best;
    std::vector<Bottleneck> classes;
    for (const Entry& entry : playbook_) {
      if (!entry.knobs.contains(knob)) continue;
      if (way_of(entry, knob) != way_of(change, knob)) continue;
      classes.push_back(entry.bottleneck);
      const hypothesize::Gain gain =
          hypothesize::gain_of(entry, target_.profile, target_.spec, target_.baseline, change);
      if (gain.predicted < target_.limits.min_gain) continue;
      std::string because;
      const bool applies = hypothesize::applies(entry, target_.profile, because);
      const double prior = applies ? entry.prior : entry.prior * kPriorOffConditions;
      if (best && best->prior * best->predicted >= prior * gain.predicted) continue;
      best = {gain.predicted, gain.ceiling, prior, entry.bottleneck};
    }
    return best ? best : by_class(classes, place);
  }

  Result<model::Hypothesis> made(const model::Change& change, const Estimate& estimate,
                                 const Mention& place) const {
    model::Hypothesis hypothesis = TRY(hypothesize::from_change(
        target_.spec, target_.baseline, change, {"dream", place.ref()}, target_.hardware));
    hypothesis.bottleneck = estimate.bottleneck;
    hypothesis.predicted_gain = estimate.predicted;
    hypothesis.ceiling_share = estimate.ceiling;
    hypothesis.prior = estimate.prior;
    hypothesis.profile = target_.profile.id;
    hypothesis.mechanism = place.says();
    return hypothesis;
  }

  Result<model::Hypothesis> from_entry(const Entry& entry, const Mention& place) const {
    for (const std::string& need : entry.needs) {
      if (target_.limits.absent.contains(need)) {
        return bad_input(fmt::format("it needs {}, which is not available", need));
      }
    }
    std::string because;
    const auto change = hypothesize::resolve(entry, target_.spec, target_.baseline, because);
    if (!change) return bad_input(because);
    const hypothesize::Gain gain =
        hypothesize::gain_of(entry, target_.profile, target_.spec, target_.baseline, *change);
    if (gain.predicted < target_.limits.min_gain) return saves_nothing({entry.bottleneck}, place);
    const bool applies = hypothesize::applies(entry, target_.profile, because);
    const double prior = applies ? entry.prior : entry.prior * kPriorOffConditions;
    model::Hypothesis hypothesis =
        TRY(made(*change, {gain.predicted, gain.ceiling, prior, entry.bottleneck}, place));
    hypothesis.title = entry.title;
    hypothesis.mechanism = fmt::format("{} {}{}", entry.mechanism, place.says(),
                                       applies ? "" : fmt::format("; here {}.", because));
    return hypothesis;
  }

  // A knob of the spec set to the value in the text.
  Result<model::Hypothesis> from_value(const std::string& name, const std::string& value,
                                       const Mention& place) const {
    Entry entry;
    entry.knobs[name] = is_switch(name) && value == "on"    ? "on"
                        : is_switch(name) && value == "off" ? "off"
                                                            : "=" + value;
    std::string because;
    const auto change = hypothesize::resolve(entry, target_.spec, target_.baseline, because);
    if (!change) return bad_input(because);
    if (name == "threads" && is_too_many(value)) return too_many(value);
    if (grows(name) && value != "0" && way_of(*change, name) == Direction::kLess) {
      const auto present =
          hypothesize::present_of(target_.spec, target_.baseline, target_.spec.knobs.at(name));
      return bad_input(fmt::format("{} already uses more: {}", target_.spec.family, present.value));
    }
    const auto estimate = by_playbook(name, *change, place);
    if (!estimate) return saves_nothing(classes_of(name), place);
    model::Hypothesis hypothesis = TRY(made(*change, *estimate, place));
    hypothesis.title = fmt::format("{}={}", name, value);
    return hypothesis;
  }

  int slots() const {
    return std::max(target_.spec.cpus,
                    hypothesize::accelerators_of(target_.spec, target_.baseline));
  }

  bool is_too_many(const std::string& threads) const {
    return to_number<int>(threads).value_or(1) > slots();
  }

  Error too_many(const std::string& threads) const {
    return bad_input(fmt::format("{} threads exceed the {} CPU slot{} of {}", threads, slots(),
                                 slots() == 1 ? "" : "s", target_.spec.family));
  }

  // As an entry, so that lists in variables are treated alike.
  Result<model::Hypothesis> from_setting(const Setting& setting, const Mention& place) const {
    if (setting.variable.ends_with("NUM_THREADS") && is_too_many(setting.value)) {
      return too_many(setting.value);
    }
    const std::vector<Bottleneck> classes = {setting.against, setting.also_against};
    const auto estimate = by_class(classes, place);
    if (!estimate) return saves_nothing(classes, place);
    Entry entry;
    entry.env[setting.variable] = setting.value;
    std::string because;
    const auto change = hypothesize::resolve(entry, target_.spec, target_.baseline, because);
    if (!change) return bad_input(because);
    model::Hypothesis hypothesis = TRY(made(*change, *estimate, place));
    hypothesis.title = fmt::format("{}={}", setting.variable, setting.value);
    return hypothesis;
  }

  std::span<const Entry> playbook_;
  const Target& target_;
  Dreams dreams_;
};

}  // namespace

Dreams from_passages(std::span<const Passage> passages, std::span<const Entry> playbook,
                     const Target& target) {
  const model::Profile present =
      hypothesize::on_baseline(target.profile, target.spec, target.baseline);
  const Target here{target.spec, target.baseline, present, target.hardware, target.limits};
  Reader reader(playbook, here);
  for (const Passage& passage : passages) reader.read(passage);
  return reader.take();
}

}  // namespace amdahl::dream
