#include <cmath>

#include <nlohmann/json.hpp>

#include "compare/account.h"
#include "model/codec.h"

namespace amdahl::compare {
namespace {

Json known(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json known(const std::optional<double>& value) { return value ? known(*value) : Json(); }

Json share(const std::optional<double>& effect, const Speech& speech) {
  return effect ? known(share_of(*effect, speech)) : Json();
}

Json interval(double lower, double upper, const Speech& speech) {
  const auto bound = [&](double effect) {
    return std::isfinite(effect) ? known(share_of(effect, speech)) : Json();
  };
  return Json::array({bound(lower), bound(upper)});
}

Json encode_row(const Row& row, const Speech& speech) {
  return {{"index", row.fact.index},
          {"first", row.fact.concurrent       ? "both"
                    : row.fact.variant_second ? "A"
                                              : "B"},
          {"a", known(row.a)},
          {"b", known(row.b)},
          {"share", share(row.d, speech)},
          {"void", row.fact.void_reason},
          {"so_far", row.fact.voided ? Json() : known(share_of(row.effect, speech))},
          {"interval", interval(row.lower, row.upper, speech)}};
}

}  // namespace

Json encode(const Account& account) {
  const Tried& tried = account.tried;
  const Speech& speech = tried.speech;
  const model::Comparison& c = account.comparison;
  Json rows = Json::array();
  for (const Row& row : account.rows) rows.push_back(encode_row(row, speech));
  return {{"schema_version", 1},
          {"verdict", account.verdict},
          {"answer", model::name(c.answer)},
          {"metric",
           {{"name", speech.metric},
            {"unit", speech.unit},
            {"lower_is_better", speech.lower_is_better}}},
          {"a", {{"command", tried.a}, {"median", known(account.median_a)}}},
          {"b", {{"command", tried.b}, {"median", known(account.median_b)}}},
          {"share", c.pairs == 0 ? Json() : known(share_of(c.effect, speech))},
          {"interval", interval(c.lower, c.upper, speech)},
          {"sureness", 1 - tried.design.bound_level},
          {"pairs", {{"counted", c.pairs}, {"void", c.voided}, {"most", tried.design.cap}}},
          {"noise",
           {{"sigma", account.noise.sigma},
            {"from", account.noise.from},
            {"same_pairs", account.noise.same},
            {"bias", account.noise.same > 0 ? known(account.noise.bias) : Json()},
            {"bias_p", account.noise.same > 0 ? known(account.noise.bias_chance) : Json()}}},
          {"order_effect",
           {{"second_gains", account.order.pairs > 0 ? known(account.order.effect) : Json()},
            {"p", account.order.pairs > 0 ? known(account.order.chance) : Json()}}},
          {"can_show", share(account.visible, speech)},
          {"can_show_at_most_pairs", share(account.visible_at_cap, speech)},
          {"matters_from", share_of(tried.design.delta, speech)},
          {"pairs_to_settle", account.pairs_to_settle ? Json(*account.pairs_to_settle) : Json()},
          {"settle", account.settle},
          {"remarks", account.remarks},
          {"outputs_differ", account.outputs_differ},
          {"interrupted", tried.interrupted},
          {"comparison", model::encode(c)},
          {"rows", rows}};
}

}  // namespace amdahl::compare
