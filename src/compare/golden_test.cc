#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/golden_testing.h"
#include "base/json.h"
#include "compare/compare.h"
#include "source_dir.h"
#include "stats/estimate.h"

namespace amdahl::compare {
namespace {

using Values = std::vector<double>;
using Check = std::function<void(const Json& in, const Json& out, double tolerance)>;

// Runs `check` on every case of expected/stats/<name>.json.
void each(const std::string& name, const Check& check) {
  each_golden(
      std::ifstream(golden_file(AMDAHL_SOURCE_DIR, name)), name,
      [&](const Json& one, double tolerance) { check(one.at("in"), one.at("out"), tolerance); });
}

void near(double got, const Json& want_json, double tolerance) {
  const double want = want_json.get<double>();
  EXPECT_NEAR(got, want, tolerance * std::max(1.0, std::abs(want)));
}

TEST(Golden, LogRatio) {
  each("log_ratio", [](const Json& in, const Json& out, double tolerance) {
    model::PairFact pair;
    pair.a.cost = in.at("costA");
    pair.a.work = in.at("workA").get<double>();
    pair.b.cost = in.at("costB");
    pair.b.work = in.at("workB").get<double>();
    const auto got = log_ratio(pair);
    ASSERT_TRUE(got);
    near(*got, out, tolerance);
  });
}

struct Scan {
  std::string verdict;
  model::Comparison last;
};

// Peeks after every pair, as the loop does.
Scan scan(const Values& d, const Design& design) {
  Scan scan{"CONTINUE", {}};
  for (std::size_t n = 1; n <= d.size(); ++n) {
    scan.last = judge(std::span(d).first(n), design);
    switch (scan.last.answer) {
      case model::Answer::kBetter:
        scan.verdict = "WIN";
        return scan;
      case model::Answer::kSame:
      case model::Answer::kWorse:
        scan.verdict = "REFUTED";
        return scan;
      case model::Answer::kCannotTell:
        break;
    }
    if (scan.last.pairs >= design.cap) {
      scan.verdict = "INCONCLUSIVE";
      return scan;
    }
  }
  return scan;
}

TEST(Golden, Verdict) {
  each("verdict", [](const Json& in, const Json& out, double tolerance) {
    Design design{.sigma = in.at("sigma"), .win_threshold = in.at("threshold")};
    design.delta = stats::futility_margin(in.at("claim"), design.sigma);
    design.beta = in.at("beta");
    design.cap = in.at("nmax");
    near(design.delta, out.at("delta"), tolerance);
    const Scan got = scan(in.at("d").get<Values>(), design);
    EXPECT_EQ(got.verdict, out.at("verdict").get<std::string>());
    EXPECT_EQ(got.last.pairs, out.at("n").get<int>());
  });
}

TEST(Golden, EndToEnd) {
  each("end_to_end", [](const Json& in, const Json& out, double tolerance) {
    Design design{.sigma = sigma_from_same(in.at("aa").get<Values>())};
    design.delta = stats::futility_margin(in.at("claim"), design.sigma);
    design.win_threshold = in.at("threshold");
    near(design.sigma, out.at("sigma"), tolerance);
    near(design.delta, out.at("delta"), tolerance);
    const Scan got = scan(in.at("d").get<Values>(), design);
    EXPECT_EQ(got.verdict, out.at("verdict").get<std::string>());
    EXPECT_EQ(got.last.pairs, out.at("n").get<int>());
    near(got.last.log_e_win, out.at("log_e"), tolerance);
    near(got.last.effect, out.at("hl"), tolerance);
    near(got.last.shrunk, out.at("shrunk"), tolerance);
    if (out.at("lower95") == "-inf") {
      EXPECT_EQ(got.last.lower, -std::numeric_limits<double>::infinity());
    } else {
      near(got.last.lower, out.at("lower95"), tolerance);
    }
  });
}

}  // namespace
}  // namespace amdahl::compare
