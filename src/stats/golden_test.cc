#include <algorithm>
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
#include "source_dir.h"
#include "stats/campaign.h"
#include "stats/coin.h"
#include "stats/eprocess.h"
#include "stats/estimate.h"
#include "stats/signed_rank.h"
#include "stats/tests.h"

namespace amdahl::stats {
namespace {

using Values = std::vector<double>;

// The values come from independent sources: R, scipy, and mpmath with 50 digits.
class Golden : public testing::Test {
 protected:
  // Runs `check(in, out)` on every case of the file.
  void each(const std::string& name, const std::function<void(const Json&, const Json&)>& check) {
    each_golden(std::ifstream(golden_file(AMDAHL_SOURCE_DIR, name)), name,
                [&](const Json& one, double tolerance) {
                  // The files allow for other ways to sum; ours is held to the last digits.
                  tolerance_ = std::min(1e-12, tolerance);
                  check(one.at("in"), one.at("out"));
                });
  }

  void near(double got, const Json& want_json) const {
    const double want = number(want_json);
    if (std::isinf(want)) {
      EXPECT_EQ(got, want);
      return;
    }
    EXPECT_NEAR(got, want, tolerance_ * std::max(1.0, std::abs(want)));
  }

 private:
  static double number(const Json& value) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (value == "inf") return kInfinity;
    if (value == "-inf") return -kInfinity;
    return value.get<double>();
  }

  double tolerance_ = 0;
};

TEST_F(Golden, Coin) {
  each("coin", [&](const Json& in, const Json& out) {
    EXPECT_EQ(coin(in.at("seed").get<std::string>(), in.at("hypothesis").get<std::string>(),
                   in.at("pair").get<int>()),
              out.get<int>() == 1);
  });
}

TEST_F(Golden, Bet) {
  each("bet", [&](const Json& in, const Json& out) {
    const auto all = cells(in.at("sigma").get<double>());
    near(bet(in.at("x").get<double>(), all.at(in.at("cell").get<std::size_t>())), out);
  });
}

TEST_F(Golden, LogE) {
  each("log_e", [&](const Json& in, const Json& out) {
    const auto d = in.at("d").get<Values>();
    const double sigma = in.at("sigma").get<double>();
    const Wager futile{.sigma = sigma, .margin = in.at("delta"), .side = Side::kBelow};
    EProcess win_process({.sigma = sigma});
    EProcess futile_process(futile);
    for (std::size_t i = 0; i < d.size(); ++i) {
      win_process.fold(d[i]);
      futile_process.fold(d[i]);
      near(win_process.log_e(), out.at("log_e_win_path").at(i));
      near(futile_process.log_e(), out.at("log_e_futility_path").at(i));
    }
    near(log_e(d, {.sigma = sigma}), win_process.log_e());
    near(log_e(d, futile), futile_process.log_e());
    const auto wealths = win_process.log_wealths();
    for (std::size_t k = 0; k < kCells; ++k) {
      near(wealths[k], out.at("final_log_wealth_per_cell").at(k));
    }
  });
}

TEST_F(Golden, AnytimeBounds) {
  each("confidence_sequence", [&](const Json& in, const Json& out) {
    const Bounds bounds = anytime_bounds(in.at("d").get<Values>(), in.at("sigma"), in.at("alpha"));
    near(bounds.lower, out.at("lower"));
    near(bounds.upper, out.at("upper"));
  });
}

TEST_F(Golden, HodgesLehmann) {
  each("hodges_lehmann", [&](const Json& in, const Json& out) {
    near(hodges_lehmann(in.at("x").get<Values>()), out);
  });
}

TEST_F(Golden, Shrink) {
  each("shrink", [&](const Json& in, const Json& out) {
    near(shrink(in.at("d").get<Values>(), in.at("tau")), out);
  });
}

TEST_F(Golden, SigmaOfSame) {
  each("sigma_aa", [&](const Json& in, const Json& out) {
    near(sigma_of_same(in.at("aa").get<Values>()), out);
  });
}

TEST_F(Golden, Wilcoxon) {
  each("wilcoxon_greater", [&](const Json& in, const Json& out) {
    near(wilcoxon_greater(in.at("x").get<Values>()), out);
  });
}

TEST_F(Golden, Binomial) {
  each("binomial", [&](const Json& in, const Json& out) {
    near(binomial_tail(in.at("k"), in.at("n"), in.at("p0")), out.at("tail_ge"));
    near(binomial_two_sided_half(in.at("k"), in.at("n")), out.at("two_sided_half"));
  });
}

TEST_F(Golden, StudentT) {
  each("student_t_sf", [&](const Json& in, const Json& out) {
    near(student_t_tail(in.at("t"), in.at("df")), out);
  });
}

TEST_F(Golden, Equivalence) {
  each("tost", [&](const Json& in, const Json& out) {
    const Equivalence got = equivalence(in.at("x").get<Values>(), in.at("lo"), in.at("hi"));
    near(got.p_above_low, out.at("p_lower"));
    near(got.p_below_high, out.at("p_upper"));
    EXPECT_EQ(std::max(got.p_above_low, got.p_below_high) <= 0.05,
              out.at("equivalent_5pct").get<bool>());
  });
}

TEST_F(Golden, GammaLog) {
  each("gamma_log", [&](const Json& in, const Json& out) { near(gamma_log(in.at("t")), out); });
}

TEST_F(Golden, PromotionLevel) {
  each("elond", [&](const Json& in, const Json& out) {
    const Campaign campaign{in.at("K"), in.at("alpha"), in.at("D")};
    near(promotion_log_threshold(campaign), out.at("log_threshold_single"));
  });
}

TEST_F(Golden, BudgetIndex) {
  each("alloc_index", [&](const Json& in, const Json& out) {
    const Prospect prospect{.log_e = in.at("logE"),
                            .pairs = in.at("n"),
                            .effect = in.at("theta_hat"),
                            .claim = in.at("claim"),
                            .sigma = in.at("sigma"),
                            .volume = in.at("volume"),
                            .cost_per_pair = in.at("cost_pair"),
                            .log_threshold = in.at("log_thr")};
    near(budget_index(prospect), out);
  });
}

}  // namespace
}  // namespace amdahl::stats
