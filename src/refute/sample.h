// sample.h: a sound win, for the tests of checks to spoil.
#pragma once

#include <cmath>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/text.h"
#include "compare/compare.h"
#include "refute/check.h"

namespace amdahl::refute {

// All that B saves, it saves while loading.
inline void set_effect(model::PairFact& pair, double d) {
  pair.b.cost = pair.a.cost / std::exp(d);
  pair.b.wall_s = pair.a.wall_s / std::exp(d);
  pair.b.phases["load"] = pair.a.phases["load"] - (pair.a.wall_s - pair.b.wall_s);
}

inline model::PairFact sample_pair(int index, double d) {
  model::PairFact pair;
  pair.index = index;
  pair.ran_variant_second = pair.variant_second = index % 2 == 0;
  pair.a.cost = 100;
  pair.a.wall_s = 100;
  pair.a.cpu_s = 400;
  pair.a.work = 50;
  pair.a.output_digest = "0d";
  pair.a.input_fingerprint = "1f";
  pair.a.input_bytes = 1000;
  pair.a.host = "n1";
  pair.a.foreign_cpu_cores = pair.a.steal_share = pair.a.psi_cpu_some = 0;
  pair.a.started_s = 1700006400 + 7200.0 * index;  // From a midnight on, every two hours.
  pair.a.phases = {{"load", 90}, {"compute", 10}};
  pair.stratum = index / 2 % 2 == 0 ? "long" : "short";
  pair.b = pair.a;
  set_effect(pair, d);
  return pair;
}

// A spec that names everything a check could ask for.
inline model::Spec sample_spec() {
  model::Spec spec;
  spec.family = "train";
  spec.outputs.push_back({"{out}/model.bin", true});
  spec.inputs.push_back("data/*");
  spec.strata = {{"long", 0.6, {}, {}}, {"short", 0.4, {}, {}}};
  return spec;
}

// 12 pairs that save about 10 %, the last five of them fresh, spread over a day and both classes of
// inputs, on a quiet host; and 6 A/A pairs around 0. The spec must outlive it.
inline Evidence sample_win(const model::Spec& spec) {
  Evidence evidence;
  evidence.spec = &spec;
  evidence.experiment.sigma = 0.02;
  for (int i = 0; i < 12; ++i) {
    evidence.pairs.push_back(sample_pair(i, 0.105 + 0.002 * (i * 5 % 7 - 3)));
    if (i >= 7) evidence.pairs.back().purpose = model::Purpose::kReplicate;
  }
  for (int i = 0; i < 6; ++i) {
    evidence.same.push_back(sample_pair(i, 0.002 * (i - 2.5)));
    evidence.same.back().purpose = model::Purpose::kSame;
  }
  evidence.comparison = compare::judge(compare::resolved_prefix(evidence.pairs, {}, spec),
                                       compare::design_of(evidence.experiment));
  evidence.touched_share = 0.5;
  evidence.component = "load";
  evidence.doses = {{"workers", 2, 0.06}, {"workers", 4, 0.09}, {"workers", 8, 0.105}};
  return evidence;
}

// Buys targeted pairs for the check.
inline void top_up(Evidence& evidence, const std::string& check, int pairs, double d) {
  for (int i = 0; i < pairs; ++i) {
    evidence.pairs.push_back(sample_pair(100 + i, d + 0.001 * i));
    evidence.pairs.back().purpose = model::Purpose::kTopUp;
    evidence.pairs.back().target = check;
  }
  evidence.topped_up = true;
}

// "veto: ...", "doubt: ...", "agree: ..." or "abstain: ...".
inline std::string show(const model::Finding& finding) {
  if (finding.decisive) return "veto: " + finding.because;
  if (finding.vote == model::Vote::kRefute) return "doubt: " + finding.because;
  return (finding.vote == model::Vote::kAgree ? "agree: " : "abstain: ") + finding.because;
}

// A way to spoil a sound win, and what a check then says.
struct Case {
  std::string_view name;
  void (*spoil)(Evidence&, model::Spec&);
  std::string_view want;
};

// `branches` are all the ways in which the check can vote: "agree veto". The cases must show each.
inline void expect_says(std::span<const Case> cases, model::Finding (*run)(const Evidence&),
                        std::string_view branches) {
  std::set<std::string> shown;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    model::Spec spec = sample_spec();
    Evidence evidence = sample_win(spec);
    c.spoil(evidence, spec);
    const std::string said = show(run(evidence));
    EXPECT_EQ(said, c.want);
    shown.insert(said.substr(0, said.find(':')));
  }
  const auto wanted = split(branches, ' ');
  EXPECT_EQ(shown, (std::set<std::string>(wanted.begin(), wanted.end())));
}

}  // namespace amdahl::refute
