#include "loop/next.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stats/campaign.h"

namespace amdahl::loop {
namespace {

using model::Answer;
using model::Purpose;
using model::VerdictKind;

const FamilyState* find_family(const State& state, const std::string& name) {
  const auto it = std::ranges::find(state.families, name, &FamilyState::name);
  return it == state.families.end() ? nullptr : &*it;
}

double worth_of(const State& state, const std::string& family, stats::Prospect prospect) {
  const FamilyState* known = find_family(state, family);
  if (!known) return 0;
  prospect.volume =
      std::max(1e-6, known->volume_accelerator_h_per_day * state.settings.horizon_days);
  prospect.cost_per_pair = std::max(1e-9, known->pair_cost_s / 3600);
  prospect.log_threshold = state.log_promotion_threshold;
  return stats::budget_index(prospect);
}

// Pairs that could not be used, told apart by whose fault it was.
std::optional<Close> given_up(const State& state, const ExperimentState& x) {
  const int allowed = state.settings.failures_allowed;
  const int good = x.compare_pairs + x.replicate_pairs;
  if (x.variant_failures >= allowed && x.variant_failures > good) {
    return Close{x.id, VerdictKind::kInvalid,
                 fmt::format("the variant failed in {} of {} pairs", x.variant_failures,
                             x.variant_failures + good)};
  }
  if (x.baseline_failures >= allowed && x.baseline_failures > good) {
    return Close{x.id, VerdictKind::kAborted,
                 fmt::format("the baseline itself failed in {} pairs", x.baseline_failures)};
  }
  if (x.other_voids >= 2 * allowed && x.other_voids > good) {
    return Close{x.id, VerdictKind::kAborted,
                 fmt::format("{} pairs were lost or could not be measured", x.other_voids)};
  }
  return std::nullopt;
}

void in_compare(const ExperimentState& x, std::vector<Intent>& out) {
  switch (x.comparison.answer) {
    case Answer::kBetter:
      out.push_back(Stage{x.id, "refute"});
      return;
    case Answer::kSame:
      out.push_back(Close{x.id, VerdictKind::kNoEffect, x.comparison.because});
      return;
    case Answer::kWorse:
      out.push_back(Close{x.id, VerdictKind::kHarmful, x.comparison.because});
      return;
    case Answer::kCannotTell:
      break;
  }
  if (x.compare_pairs >= x.cap) {
    out.push_back(Close{x.id, VerdictKind::kInconclusive, x.comparison.because});
    return;
  }
  const int wanted = std::min({x.pairs_needed, x.cap - x.compare_pairs, 64});
  for (int i = x.in_flight; i < wanted; ++i) {
    out.push_back(RunPair{x.id, Purpose::kCompare, "", x.slots});
  }
}

void in_refute(const State& state, const ExperimentState& x, std::vector<Intent>& out) {
  const Settings& s = state.settings;
  const bool enough_evidence = x.log_e_all >= state.log_promotion_threshold;
  const bool more = x.replicate_pairs < s.replicate_at_least ||
                    (!enough_evidence && x.replicate_pairs < s.replicate_at_most);
  if (more) {
    // A pair at most doubles the evidence, so that many more are certain to be needed.
    const double doublings = (state.log_promotion_threshold - x.log_e_all) / std::log(1.97);
    const int wanted = std::clamp(
        std::max(s.replicate_at_least - x.replicate_pairs, static_cast<int>(std::ceil(doublings))),
        1, s.replicate_at_most - x.replicate_pairs);
    for (int i = x.in_flight; i < wanted; ++i) {
      out.push_back(RunPair{x.id, Purpose::kReplicate, "", x.slots});
    }
    return;
  }
  if (x.in_flight > 0 || !x.has_same) return;
  out.push_back(AskPanel{x.id});
}

void in_top_up(const ExperimentState& x, std::vector<Intent>& out) {
  for (const auto& [check, missing] : x.top_up_missing) {
    for (int i = 0; i < missing; ++i) {
      out.push_back(RunPair{x.id, Purpose::kTopUp, check, x.slots});
    }
  }
  if (x.top_up_missing.empty() && x.top_up_in_flight == 0 && x.in_flight == 0) {
    out.push_back(AskPanel{x.id});
  }
}

void for_experiment(const State& state, const ExperimentState& x, std::vector<Intent>& out) {
  if (x.baseline_moved && x.in_flight == 0 && x.top_up_in_flight == 0) {
    out.push_back(Close{x.id, VerdictKind::kAborted,
                        "the family's baseline moved while it was under test; it may be tried "
                        "again on the new one"});
    return;
  }
  if (x.baseline_moved) return;
  if (const auto close = given_up(state, x)) {
    out.push_back(*close);
    return;
  }
  if (x.stage == "compare") in_compare(x, out);
  if (x.stage == "refute") in_refute(state, x, out);
  if (x.stage == "top-up") in_top_up(x, out);
  if (x.stage == "hold" && x.would_survive) out.push_back(AskPanel{x.id});
}

bool is_active(const ExperimentState& x) { return x.stage != "hold" && x.stage != "gate"; }

int active_in(const State& state, const std::string& family) {
  return static_cast<int>(std::ranges::count_if(state.experiments, [&](const ExperimentState& x) {
    return x.family == family && is_active(x);
  }));
}

bool may_profile(const State& state, const FamilyState& f) {
  return !f.profiled && !f.profiling && f.profile_failures < state.settings.failures_allowed;
}

bool may_run_same(const State& state, const FamilyState& f) {
  return f.same_pairs + f.same_in_flight < state.settings.same_wanted &&
         f.same_failures < 2 * state.settings.failures_allowed;
}

// A/A pairs are background work, but a claim that waits for them makes them urgent.
bool same_is_urgent(const State& state, const FamilyState& f) {
  return std::ranges::any_of(state.experiments, [&](const ExperimentState& x) {
    return x.family == f.name && x.stage == "refute" && !x.has_same;
  });
}

void for_families(const State& state, std::vector<Intent>& out) {
  for (const FamilyState& f : state.families) {
    if (may_profile(state, f)) out.push_back(Profile{f.name});
  }
}

void registrations(const State& state, std::vector<Intent>& out) {
  if (state.campaign_full) return;
  for (const FamilyState& f : state.families) {
    if (!f.profiled) continue;
    std::vector<const Queued*> waiting;
    for (const Queued& q : state.queued) {
      if (q.family == f.name) waiting.push_back(&q);
    }
    std::ranges::sort(waiting, [&](const Queued* a, const Queued* b) {
      const double wa = worth(state, *a);
      const double wb = worth(state, *b);
      return wa != wb ? wa > wb : a->hypothesis < b->hypothesis;
    });
    const int room = state.settings.per_family - active_in(state, f.name);
    for (int i = 0; i < room && i < static_cast<int>(waiting.size()); ++i) {
      out.push_back(Register{waiting[static_cast<std::size_t>(i)]->hypothesis});
    }
  }
}

}  // namespace

double worth(const State& state, const ExperimentState& x) {
  const int n = x.compare_pairs + x.replicate_pairs;
  return worth_of(state, x.family,
                  {.log_e = x.log_e_all,
                   .pairs = n,
                   .effect = x.comparison.effect,
                   .claim = x.claim,
                   .sigma = x.sigma,
                   .prior = x.prior});
}

double worth(const State& state, const Queued& queued) {
  return worth_of(state, queued.family, {.claim = queued.claim, .prior = queued.prior});
}

std::vector<Intent> next(const State& state) {
  std::vector<Intent> out;
  for_families(state, out);

  std::vector<const ExperimentState*> order;
  for (const ExperimentState& x : state.experiments) order.push_back(&x);
  std::ranges::sort(order, [&](const ExperimentState* a, const ExperimentState* b) {
    const double wa = worth(state, *a);
    const double wb = worth(state, *b);
    return wa != wb ? wa > wb : a->id < b->id;
  });
  for (const FamilyState& f : state.families) {
    if (!same_is_urgent(state, f) || !may_run_same(state, f)) continue;
    for (int i = f.same_pairs + f.same_in_flight; i < state.settings.same_wanted; ++i) {
      out.push_back(RunSame{f.name, f.slots});
    }
  }
  for (const ExperimentState* x : order) for_experiment(state, *x, out);
  registrations(state, out);
  for (const FamilyState& f : state.families) {
    if (f.profiled && !same_is_urgent(state, f) && may_run_same(state, f)) {
      out.push_back(RunSame{f.name, f.slots});
    }
  }
  return out;
}

bool settled(const State& state) {
  if (!next(state).empty()) return false;
  const bool working = std::ranges::any_of(state.experiments, [](const ExperimentState& x) {
    return is_active(x) || x.in_flight > 0 || x.top_up_in_flight > 0;
  });
  const bool watching = std::ranges::any_of(
      state.families, [](const FamilyState& f) { return f.profiling || f.same_in_flight > 0; });
  return !working && !watching;
}

}  // namespace amdahl::loop
