#include <cmath>

#include <nlohmann/json.hpp>

#include "compare/account.h"
#include "model/codec.h"

namespace amdahl::compare {
namespace {

Json known(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json known(const std::optional<double>& value) { return value ? known(*value) : Json(); }

Json share(const std::optional<double>& effect, const MetricText& metric_text) {
  return effect ? known(share_of(*effect, metric_text)) : Json();
}

Json interval(double lower, double upper, const MetricText& metric_text) {
  const auto bound = [&](double effect) {
    return std::isfinite(effect) ? known(share_of(effect, metric_text)) : Json();
  };
  return Json::array({bound(lower), bound(upper)});
}

Json encode_row(const Row& row, const MetricText& metric_text) {
  return {{"index", row.fact.index},
          {"first", row.fact.concurrent       ? "both"
                    : row.fact.variant_second ? "A"
                                              : "B"},
          {"a", known(row.a)},
          {"b", known(row.b)},
          {"share", share(row.d, metric_text)},
          {"void", row.fact.void_reason},
          {"so_far", row.fact.voided ? Json() : known(share_of(row.effect, metric_text))},
          {"interval", interval(row.lower, row.upper, metric_text)}};
}

}  // namespace

Json encode(const Account& account) {
  const Measurements& measured = account.measured;
  const MetricText& metric_text = measured.metric_text;
  const model::Comparison& c = account.comparison;
  Json rows = Json::array();
  for (const Row& row : account.rows) rows.push_back(encode_row(row, metric_text));
  return {{"schema_version", 1},
          {"verdict", account.verdict},
          {"answer", model::name(c.answer)},
          {"metric",
           {{"name", metric_text.metric},
            {"unit", metric_text.unit},
            {"lower_is_better", metric_text.lower_is_better}}},
          {"a", {{"command", measured.a}, {"median", known(account.median_a)}}},
          {"b", {{"command", measured.b}, {"median", known(account.median_b)}}},
          {"share", c.pairs == 0 ? Json() : known(share_of(c.effect, metric_text))},
          {"interval", interval(c.lower, c.upper, metric_text)},
          {"sureness", 1 - measured.design.bound_level},
          {"pairs", {{"counted", c.pairs}, {"void", c.voided}, {"most", measured.design.cap}}},
          {"noise",
           {{"sigma", account.noise.sigma},
            {"from", account.noise.from},
            {"same_pairs", account.noise.same},
            {"bias", account.noise.same > 0 ? known(account.noise.bias) : Json()},
            {"bias_p", account.noise.same > 0 ? known(account.noise.bias_chance) : Json()}}},
          {"order_effect",
           {{"second_gains", account.order.pairs > 0 ? known(account.order.effect) : Json()},
            {"p", account.order.pairs > 0 ? known(account.order.chance) : Json()}}},
          {"can_show", share(account.visible, metric_text)},
          {"can_show_at_most_pairs", share(account.visible_at_cap, metric_text)},
          {"matters_from", share_of(measured.design.delta, metric_text)},
          {"pairs_to_settle", account.pairs_to_settle ? Json(*account.pairs_to_settle) : Json()},
          {"settle", account.settle},
          {"remarks", account.remarks},
          {"outputs_differ", account.outputs_differ},
          {"interrupted", measured.interrupted},
          {"comparison", model::encode(c)},
          {"rows", rows}};
}

}  // namespace amdahl::compare
