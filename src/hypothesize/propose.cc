#include "hypothesize/propose.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/redact.h"
#include "base/text.h"
#include "hypothesize/knob.h"
#include "model/codec.h"
#include "model/effect.h"
#include "model/plan.h"
#include "profile/ceiling.h"

namespace amdahl::hypothesize {
namespace {

constexpr double kLargestShare = 0.99;  // Nothing makes a job free.

// What all hypotheses of one call rest on.
struct Ground {
  const model::Spec& spec;
  const model::Change& baseline;
  const model::Profile& profile;  // With the knobs of the baseline.
  std::string_view hardware;
  const Limits& limits;
};

double sum_of(std::span<const std::string> names, const model::Profile& profile) {
  double sum = 0;
  for (const std::string& name : names) {
    const auto found = profile.evidence.find(name);
    if (found != profile.evidence.end() && found->second > 0) sum += std::min(found->second, 1.0);
  }
  return std::min(sum, 1.0);
}

std::optional<std::string> missing_need(const Entry& entry, const Limits& limits) {
  for (const std::string& need : entry.needs) {
    if (limits.absent.contains(need)) return need;
  }
  return std::nullopt;
}

// The hypothesis, or an error that says why the entry does not apply.
Result<model::Hypothesis> consider(const Entry& entry, const Ground& ground) {
  std::string because;
  if (entry.effect == "semantic") {
    return bad_input("it changes the results, and that was not requested");
  }
  if (!applies(entry, ground.profile, because)) return bad_input(because);
  if (const auto need = missing_need(entry, ground.limits)) {
    return bad_input(fmt::format("it needs {}, which is not available", *need));
  }
  std::string reason;
  const auto change = resolve(entry, ground.spec, ground.baseline, reason);
  if (!change) return bad_input(reason);
  const Gain gain = gain_of(entry, ground.profile, ground.spec, ground.baseline, *change);
  if (gain.predicted < ground.limits.min_gain) {
    return bad_input(fmt::format("predicted gain {} is below the minimum {} (ceiling {})",
                                 show_percent(gain.predicted), show_percent(ground.limits.min_gain),
                                 show_percent(gain.ceiling)));
  }
  model::Hypothesis hypothesis = TRY(
      from_change(ground.spec, ground.baseline, *change, {"playbook", entry.id}, ground.hardware));
  hypothesis.bottleneck = entry.bottleneck;
  hypothesis.title = entry.race.empty()
                         ? entry.title
                         : fmt::format("{}: {}", entry.title, model::describe(hypothesis.change));
  hypothesis.race = model::numeric_setting(hypothesis.change);
  hypothesis.mechanism =
      because.empty() ? entry.mechanism : fmt::format("{} Here: {}.", entry.mechanism, because);
  hypothesis.predicted_gain = gain.predicted;
  hypothesis.ceiling_share = gain.ceiling;
  hypothesis.prior = entry.prior;
  hypothesis.profile = ground.profile.id;
  return hypothesis;
}

double rank(const model::Hypothesis& hypothesis) {
  return hypothesis.prior * hypothesis.predicted_gain;
}

void rank_all(std::vector<model::Hypothesis>& hypotheses) {
  std::ranges::sort(hypotheses, [](const model::Hypothesis& a, const model::Hypothesis& b) {
    return std::tuple(-rank(a), a.origin.ref) < std::tuple(-rank(b), b.origin.ref);
  });
}

// Keeps the first hypothesis of each key, up to the limit. The others are skipped with a reason.
void thin_out(Proposals& proposals, const Limits& limits) {
  std::map<std::string, std::string> title_of_key;
  std::vector<model::Hypothesis> kept;
  for (model::Hypothesis& hypothesis : proposals.ranked) {
    const auto [found, is_new] = title_of_key.emplace(hypothesis.key, hypothesis.title);
    if (!is_new) {
      proposals.skipped.push_back(
          {hypothesis.title, fmt::format("same change as '{}' ({})", found->second,
                                         model::describe(hypothesis.change))});
    } else if (kept.size() >= limits.at_most) {
      proposals.skipped.push_back(
          {hypothesis.title, fmt::format("not among the {} best", limits.at_most)});
    } else {
      kept.push_back(std::move(hypothesis));
    }
  }
  proposals.ranked = std::move(kept);
}

}  // namespace

std::vector<std::string> needs_of(std::span<const Entry> playbook) {
  std::set<std::string> needs;
  for (const Entry& entry : playbook) needs.insert(entry.needs.begin(), entry.needs.end());
  return {needs.begin(), needs.end()};
}

Gain gain_of(const Entry& entry, const model::Profile& profile, const model::Spec& spec,
             const model::Change& baseline, const model::Change& change) {
  const double explained = sum_of(entry.explains, profile);
  const double reached = std::min(
      explained + sum_of(entry.touches, profile) + profile::taken_by_others(profile.evidence), 1.0);
  const int before = accelerators_of(spec, baseline);
  if (change.accelerators && *change.accelerators < before) {
    // Returned accelerators cost nothing any more; of the rest, the affected share may go too.
    const double returned = 1 - static_cast<double>(*change.accelerators) / before;
    const double ceiling = returned + (1 - returned) * reached;
    return {returned * entry.effectiveness, std::min(ceiling, kLargestShare)};
  }
  const double ceiling = std::min(reached, kLargestShare);
  return {std::min(entry.effectiveness * explained, ceiling), ceiling};
}

Proposals propose(const model::Spec& spec, const model::Change& baseline,
                  const model::Profile& profile, std::span<const Entry> playbook,
                  std::string_view hardware, const Limits& limits) {
  const model::Profile present = on_baseline(profile, spec, baseline);
  const Ground ground{spec, baseline, present, hardware, limits};
  Proposals proposals;
  for (const Entry& known : playbook) {
    for (const Entry& entry : by_value(known)) {
      Result<model::Hypothesis> hypothesis = consider(entry, ground);
      if (hypothesis) {
        proposals.ranked.push_back(*std::move(hypothesis));
      } else {
        proposals.skipped.push_back({entry.title, hypothesis.error().text});
      }
    }
  }
  rank_all(proposals.ranked);
  thin_out(proposals, limits);
  return proposals;
}

std::string id_of(std::string_view key) { return "h-" + sha256_hex(key).substr(0, 10); }

Result<model::Hypothesis> from_change(const model::Spec& spec, const model::Change& baseline,
                                      const model::Change& change, model::Origin origin,
                                      std::string_view hardware) {
  if (const auto secret = first_secret(encode(change))) {
    return bad_input(
        fmt::format("the change seems to contain a secret ({}), which must not be stored: put it "
                    "into the environment and write {{env:NAME}} instead",
                    secret->substr(1)));
  }
  TRY(model::make_plan(spec, change));  // Two spellings of one flag must not hide each other.
  if (model::is_empty(model::canonical(spec, baseline, change))) {
    return bad_input(
        model::is_empty(change)
            ? std::string("the change is empty")
            : fmt::format("the change does nothing: the baseline of {} already has it: {}",
                          spec.family, model::describe(change)));
  }
  model::Hypothesis hypothesis;
  hypothesis.change = model::by_first_name(spec, change);
  TRY(model::make_plan(spec, model::combine(baseline, hypothesis.change)));
  hypothesis.family = spec.family;
  hypothesis.key = model::key(spec, baseline, change, hardware);
  hypothesis.id = id_of(hypothesis.key);
  hypothesis.title = model::describe(hypothesis.change);
  hypothesis.origin = std::move(origin);
  return hypothesis;
}

}  // namespace amdahl::hypothesize
