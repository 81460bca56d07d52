#include "ledger/sqlite/rows.h"

#include <chrono>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json.h"
#include "ledger/event.h"
#include "ledger/sqlite/fields.h"
#include "model/codec.h"

namespace amdahl::ledger::sqlite {
namespace {

constexpr double kMillion = 1e6;
constexpr std::size_t kDigestDigits = 16;

// A list that a reducer wrote. A person may have edited the file, so the types are checked.
template <class Item>
Result<std::vector<Item>> list_of(std::string_view text, std::string_view where) {
  const Json list = TRY(parse_json(text).in(where));
  std::vector<Item> items;
  for (const Json& item : list) {
    const auto* value =
        item.get_ptr<const std::conditional_t<std::is_same_v<Item, int>, Json::number_integer_t,
                                              Json::string_t>*>();
    if (value == nullptr) return bad_input(fmt::format("{}: unexpected value in {}", where, text));
    items.push_back(static_cast<Item>(*value));
  }
  return items;
}

// The pair's fields that are in the stored request. The launcher reports a request that cannot be
// parsed.
void take_request(model::Pair& pair) {
  const auto json = parse_json(pair.request);
  if (!json || !json->is_object()) return;
  pair.stratum = json->value("stratum", "");
  pair.block = json->value("block", "");
  pair.arm = json->value("arm", 1);
  pair.concurrent = json->value("concurrent", false);
  pair.contended = json->value("contended", false);
  pair.steps = json->value("steps", false);
  pair.schedule = json->value("schedule", "");
  pair.commit = json->value("commit", "");
}

}  // namespace

double from_millionths(std::int64_t millionths) {
  return static_cast<double>(millionths) / kMillion;
}

Result<std::int64_t> to_millionths(double amount) {
  if (!(amount >= 0 && amount <= 9e12)) {
    return bad_input(
        fmt::format("an amount must be between 0 and 9,000,000,000,000, but is {}", amount));
  }
  return std::llround(amount * kMillion);
}

std::string packet_digest(std::string_view body) {
  return sha256_hex(body).substr(0, kDigestDigits);
}

std::string family_version(std::string_view spec, std::string_view stack) {
  // Neither is empty, and a spec is one JSON object: no other split gives the same bytes.
  return sha256_hex(fmt::format("{}\n{}", spec, stack)).substr(0, kDigestDigits);
}

Result<Family> family_of(const db::Statement& row) {
  Family family;
  family.name = row.text(0);
  family.spec = TRY(model::decode_text<model::Spec>(row.text(1)).in(family.name).in("family"));
  family.baseline = TRY(model::decode_text<model::Change>(row.text(2)).in(family.name));
  family.stack = TRY(list_of<std::string>(row.text(3), "stack"));
  if (!row.is_null(4)) {
    family.profile = TRY(model::decode_text<model::Profile>(row.text(4)).in(family.name));
  }
  family.volume_accelerator_h_per_day = row.real(5);
  family.volume_jobs = row.integer(6);
  family.version = family_version(row.text(1), row.text(3));
  return family;
}

Result<HypothesisRow> hypothesis_of(const db::Statement& row) {
  HypothesisRow out;
  out.hypothesis = TRY(model::decode_text<model::Hypothesis>(row.text(3)).in(row.text(0)));
  if (!row.text(4).empty()) {
    const Json outlook = TRY(parse_json(row.text(4)).in(row.text(0)));
    out.hypothesis.predicted_gain = TRY(number_field(outlook, "predicted_gain"));
    out.hypothesis.ceiling_share = TRY(number_field(outlook, "ceiling_share"));
    out.hypothesis.prior = TRY(number_field(outlook, "prior"));
    out.hypothesis.profile = TRY(text_field(outlook, "profile"));
  }
  out.state = row.text(1);
  out.since = Nanos{row.integer(2)};
  return out;
}

Result<ExperimentRow> experiment_of(const db::Statement& row) {
  ExperimentRow out;
  out.state = row.text(0);
  const auto stage = model::stage_named(row.text(1));
  if (!stage) return bad_input(fmt::format("unknown stage {}", row.text(1)));
  out.stage = *stage;
  if (!row.is_null(3)) {
    out.comparison = TRY(model::decode_text<model::Comparison>(row.text(3)).in("comparison"));
  }
  out.experiment = TRY(model::decode_text<model::Experiment>(row.text(4)).in("experiment"));
  out.resumed = static_cast<int>(row.integer(5));
  if (out.experiment.registered == Nanos{}) out.experiment.registered = Nanos{row.integer(2)};
  return out;
}

Result<model::Pair> pair_of(const db::Statement& row) {
  model::Pair pair;
  pair.reservation = row.text(0);
  pair.family = row.text(1);
  pair.experiment = row.text(2);
  const auto aim = model::aim_in(row.text(3));
  if (!aim) return bad_input(fmt::format("{}: unknown purpose {}", pair.reservation, row.text(3)));
  pair.aim = *aim;
  pair.index = static_cast<int>(row.integer(4));
  pair.variant_second = row.integer(5) != 0;
  pair.cpus = TRY(list_of<int>(row.text(6), "cpus").in(pair.reservation));
  pair.worker_run_id = row.text(7);
  // The table's CHECK lets no other state in.
  pair.state = model::pair_state_named(row.text(8)).value_or(model::PairState::kVoid);
  pair.reserved_accelerator_s = from_millionths(row.integer(9));
  pair.spent_accelerator_s = from_millionths(row.integer(10));
  pair.at = Nanos{row.integer(11)};
  pair.request = row.text(12);
  take_request(pair);
  if (!row.is_null(13)) {
    pair.fact = TRY(model::decode_text<model::PairFact>(row.text(13)).in(pair.reservation));
  }
  return pair;
}

Result<Ask> ask_of(const db::Statement& row) {
  const auto amounts = [](std::string_view text) -> Result<std::map<std::string, double>> {
    std::map<std::string, double> by_resource;
    const Json json = TRY(parse_json(text));
    for (const auto& [resource, amount] : json.items()) {
      by_resource[resource] = from_millionths(amount.get<std::int64_t>());
    }
    return by_resource;
  };
  Ask ask;
  ask.id = row.text(0);
  ask.family = row.text(1);
  ask.about = row.text(2);
  ask.role = row.text(3);
  ask.tier = static_cast<int>(row.integer(4));
  ask.state = row.text(5);
  ask.reserved = TRY(amounts(row.text(6)).in(ask.id));
  ask.spent = TRY(amounts(row.text(7)).in(ask.id));
  ask.request = row.text(8);
  ask.outcome = row.text(9);
  ask.at = Nanos{row.integer(10)};
  return ask;
}

Result<GateRow> gate_of(const db::Statement& row) {
  GateRow gate;
  gate.state = row.text(0);
  gate.decision.approved = gate.state == "approved";
  gate.decision.actor = row.text(1);
  gate.decision.reason = row.text(2);
  gate.packet = TRY(model::decode_text<model::GatePacket>(row.text(3)).in("gate"));
  gate.digest = packet_digest(row.text(3));
  return gate;
}

Result<model::Verdict> verdict_of(const db::Statement& row) { return verdict_of(row, 0); }

Result<model::Verdict> verdict_of(const db::Statement& row, int column) {
  auto verdict = TRY(model::decode_text<model::Verdict>(row.text(column + 1)).in("verdict"));
  if (verdict.at == Nanos{}) verdict.at = Nanos{row.integer(column)};
  return verdict;
}

Result<model::StackResult> stack_of(const db::Statement& row) {
  auto stack = TRY(model::decode_text<model::StackResult>(row.text(1)).in("stack"));
  if (stack.at == Nanos{}) stack.at = Nanos{row.integer(0)};
  return stack;
}

Result<model::Finding> vote_of(const db::Statement& row) {
  return model::decode_text<model::Finding>(row.text(0)).in("vote");
}

Result<Saving> saving_of(const db::Statement& row) {
  Saving saving{std::string(row.text(0)), std::string(row.text(1)), row.real(2), std::nullopt};
  if (!row.is_null(3)) saving.realised_share = row.real(3);
  return saving;
}

Result<Earning> earning_of(const db::Statement& row) {
  return Earning{.family = std::string(row.text(0)),
                 .month = std::string(row.text(1)),
                 .jobs = row.integer(2),
                 .used = row.real(3),
                 .saved = row.real(4),
                 .lower = row.real(5),
                 .upper = row.real(6)};
}

Result<Outlay> outlay_of(const db::Statement& row) {
  return Outlay{std::string(row.text(0)), std::string(row.text(1)),
                from_millionths(row.integer(2))};
}

Result<Choice> choice_of(const db::Statement& row) {
  return Choice{std::string(row.text(0)), Nanos{row.integer(1)}, TRY(parse_json(row.text(2)))};
}

Result<Budget> budget_of(const db::Statement& row) {
  Budget budget{std::string(row.text(0)), std::nullopt, from_millionths(row.integer(2)),
                from_millionths(row.integer(3)), from_millionths(row.integer(4))};
  if (!row.is_null(1)) budget.limit = from_millionths(row.integer(1));
  return budget;
}

Result<CanaryRow> canary_of(const db::Statement& row) {
  CanaryRow out;
  out.state = model::canary_state_named(row.text(0)).value_or(model::CanaryState::kOpen);
  out.actor = row.text(1);
  out.reason = row.text(2);
  if (!row.is_null(3)) out.closed = Nanos{row.integer(3)};
  if (!row.is_null(4)) {
    out.result = TRY(model::decode_text<model::CanaryResult>(row.text(4)).in("result"));
  }
  out.canary = TRY(model::decode_text<model::Canary>(row.text(5)).in("canary"));
  return out;
}

Result<Campaign> campaign_of(const db::Statement& row) {
  return Campaign{
      std::string(row.text(0)), static_cast<int>(row.integer(1)), row.real(2),
      std::string(row.text(3)), static_cast<int>(row.integer(4)), static_cast<int>(row.integer(5))};
}

std::string show_time(Nanos unix_time) {
  const std::chrono::sys_time<Nanos> at{unix_time};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{std::chrono::floor<std::chrono::seconds>(at - day)};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count());
}

}  // namespace amdahl::ledger::sqlite
