#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/golden_testing.h"
#include "base/json.h"
#include "refute/aa/aa.h"
#include "refute/aggregate/aggregate.h"
#include "refute/amdahl/amdahl.h"
#include "refute/check.h"
#include "refute/cost/cost.h"
#include "refute/design/design.h"
#include "refute/dose/dose.h"
#include "refute/failures/failures.h"
#include "refute/host/host.h"
#include "refute/input/input.h"
#include "refute/mechanism/mechanism.h"
#include "refute/order/order.h"
#include "refute/outlier/outlier.h"
#include "refute/quality/quality.h"
#include "refute/replicate/replicate.h"
#include "refute/rule.h"
#include "refute/shrink/shrink.h"
#include "refute/strata/strata.h"
#include "refute/work/work.h"
#include "source_dir.h"

namespace amdahl::refute {
namespace {

using Values = std::vector<double>;
using Flags = std::vector<bool>;

// Runs `check` on every case of expected/stats/<name>.json.
void each(const std::string& name, const std::function<void(const Json&)>& check) {
  each_golden(std::ifstream(golden_file(AMDAHL_SOURCE_DIR, name)), name,
              [&](const Json& one, double) { check(one); });
}

Values values(const Json& in, const char* key) { return in.at(key).get<Values>(); }
Flags flags(const Json& in, const char* key) { return in.at(key).get<Flags>(); }
double number(const Json& in, const char* key) { return in.at(key).get<double>(); }

using Rule = std::function<Ruling(const Json&)>;

const std::map<std::string, Rule>& rules() {
  static const std::map<std::string, Rule> kRules = {
      {"three_rule", [](const Json& in) { return three_rule(values(in, "x"), in.at("theta")); }},
      {"check_design",
       [](const Json& in) { return design::rule(flags(in, "assigned"), flags(in, "executed")); }},
      {"check_work", [](const Json& in) { return work::rule(values(in, "lw"), in.at("tol")); }},
      {"check_quality",
       [](const Json& in) { return quality::rule(values(in, "q"), in.at("margin")); }},
      {"check_cost", [](const Json& in) { return cost::rule(values(in, "dc"), in.at("theta")); }},
      {"check_replicate",
       [](const Json& in) {
         return replicate::rule(values(in, "dr"), in.at("log_e_rep"), in.at("theta"));
       }},
      {"check_aa", [](const Json& in) { return aa::rule(values(in, "aa"), in.at("theta")); }},
      {"check_input",
       [](const Json& in) {
         return input::rule(values(in, "d"), values(in, "dx"), flags(in, "pinned"), in.at("theta"),
                            in.at("beta"));
       }},
      {"check_host",
       [](const Json& in) {
         return host::rule(values(in, "d"), flags(in, "clean"), flags(in, "same"), in.at("theta"));
       }},
      {"check_order",
       [](const Json& in) {
         return order::rule(values(in, "d"), flags(in, "second"), in.at("theta"));
       }},
      {"check_outlier", [](const Json& in) { return outlier::rule(values(in, "d")); }},
      {"check_aggregate",
       [](const Json& in) { return aggregate::rule(values(in, "d"), in.at("theta")); }},
      {"check_amdahl",
       [](const Json& in) {
         return amdahl::rule(number(in, "lower"), number(in, "theta"), number(in, "f"));
       }},
      {"check_failures",
       [](const Json& in) {
         return failures::rule(in.at("kB"), in.at("nB"), in.at("p0"), in.at("soft"));
       }},
      {"check_shrink",
       [](const Json& in) { return shrink::rule(values(in, "d"), in.at("dmin"), in.at("tau")); }},
      {"check_strata",
       [](const Json& in) {
         return strata::rule(values(in, "d"), in.at("g").get<std::vector<std::string>>(),
                             in.at("weights").get<strata::Weights>(), in.at("theta"));
       }},
      {"check_dose",
       [](const Json& in) { return dose::rule(values(in, "dose"), values(in, "effect")); }},
      {"check_mechanism",
       [](const Json& in) {
         return mechanism::rule(values(in, "saved_component"), values(in, "saved_total"));
       }},
  };
  return kRules;
}

TEST(Golden, Rules) {
  std::map<std::string, int> seen;
  each("checks", [&](const Json& one) {
    const auto name = one.at("check").get<std::string>();
    const auto rule = rules().find(name);
    ASSERT_NE(rule, rules().end()) << name;
    ++seen[name];
    const Ruling got = rule->second(one.at("in"));
    EXPECT_EQ(static_cast<int>(got.vote), one.at("out").at("vote").get<int>()) << name;
    EXPECT_EQ(got.decisive, one.at("out").at("decisive").get<bool>()) << name;
  });
  EXPECT_EQ(rules().size(), 18U);
  for (const auto& [name, rule] : rules()) EXPECT_GE(seen[name], 4) << name;
}

TEST(Golden, Combine) {
  const std::map<std::string, Outcome> kOutcomes = {{"REFUTED", Outcome::kRefuted},
                                                    {"TOPUP", Outcome::kTopUp},
                                                    {"HOLD", Outcome::kHold},
                                                    {"SURVIVES", Outcome::kSurvives}};
  each("combine_votes", [&](const Json& one) {
    const Json& in = one.at("in");
    std::vector<model::Finding> findings;
    for (const Json& id : in.at("applicable")) {
      const auto vote = in.at("votes").find(id.get<std::string>());
      if (vote == in.at("votes").end()) continue;
      model::Finding finding;
      finding.check = id;
      finding.vote = static_cast<model::Vote>(vote->at(0).get<int>());
      finding.decisive = vote->at(1);
      findings.push_back(finding);
    }
    const Panel panel = combine(findings, in.at("multiplicity_ok"), in.at("topup_done"));
    EXPECT_EQ(panel.outcome, kOutcomes.at(one.at("out").get<std::string>())) << panel.because;
  });
}

}  // namespace
}  // namespace amdahl::refute
