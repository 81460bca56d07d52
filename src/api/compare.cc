#include <cmath>

#include <nlohmann/json.hpp>

#include "api/document.h"
#include "api/job.h"
#include "model/codec.h"

namespace amdahl::api {
namespace {

using compare::MetricText;

Json known(const std::optional<double>& value) { return value ? finite(*value) : Json(); }

Json share(const std::optional<double>& effect, const MetricText& metric_text) {
  return effect ? finite(share_of(*effect, metric_text)) : Json();
}

Json interval(double lower, double upper, const MetricText& metric_text) {
  const auto bound = [&](double effect) {
    return std::isfinite(effect) ? finite(share_of(effect, metric_text)) : Json();
  };
  return Json::array({bound(lower), bound(upper)});
}

Json encode_row(const compare::Row& row, const MetricText& metric_text) {
  return {{"index", row.fact.index},
          {"first", row.fact.concurrent       ? "both"
                    : row.fact.variant_second ? "A"
                                              : "B"},
          {"a", known(row.a)},
          {"b", known(row.b)},
          {"share", share(row.d, metric_text)},
          {"void", row.fact.void_reason},
          {"so_far", row.fact.voided ? Json() : finite(share_of(row.effect, metric_text))},
          {"interval", interval(row.lower, row.upper, metric_text)}};
}

}  // namespace

Json comparison(const compare::Account& account) {
  const compare::Measurements& measured = account.measured;
  const MetricText& metric_text = measured.metric_text;
  const model::Comparison& c = account.comparison;
  Json rows = Json::array();
  for (const compare::Row& row : account.rows) rows.push_back(encode_row(row, metric_text));
  return {{"verdict", account.verdict},
          {"answer", model::name(c.answer)},
          {"metric",
           {{"name", metric_text.metric},
            {"unit", metric_text.unit},
            {"lower_is_better", metric_text.lower_is_better}}},
          {"a", {{"command", measured.a}, {"median", known(account.median_a)}}},
          {"b", {{"command", measured.b}, {"median", known(account.median_b)}}},
          {"share", c.pairs == 0 ? Json() : finite(share_of(c.effect, metric_text))},
          {"interval", interval(c.lower, c.upper, metric_text)},
          {"sureness", 1 - measured.design.bound_level},
          {"pairs", {{"counted", c.pairs}, {"void", c.voided}, {"most", measured.design.cap}}},
          {"noise",
           {{"sigma", account.noise.sigma},
            {"from", account.noise.from},
            {"same_pairs", account.noise.same},
            {"bias", account.noise.same > 0 ? finite(account.noise.bias) : Json()},
            {"bias_p", account.noise.same > 0 ? finite(account.noise.bias_chance) : Json()}}},
          {"order_effect",
           {{"second_gains", account.order.pairs > 0 ? finite(account.order.effect) : Json()},
            {"p", account.order.pairs > 0 ? finite(account.order.chance) : Json()}}},
          {"can_show", share(account.visible, metric_text)},
          {"can_show_at_most_pairs", share(account.visible_at_cap, metric_text)},
          {"matters_from", share_of(measured.design.delta, metric_text)},
          {"pairs_to_settle", or_null(account.pairs_to_settle)},
          {"settle", account.settle},
          {"remarks", account.remarks},
          {"outputs_differ", account.outputs_differ},
          {"interrupted", measured.interrupted},
          {"comparison", model::encode(c)},
          {"rows", rows}};
}

Json compared(const app::CompareOutcome& outcome) {
  Json json = comparison(outcome.account);
  json["folder"] = outcome.folder;
  return document(std::move(json));
}

}  // namespace amdahl::api
