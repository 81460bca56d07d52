#include "app/roi.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "app/canary.h"
#include "app/stack.h"
#include "ledger/ledger.h"

namespace amdahl::app {
namespace {

constexpr double kDaysOfAMonth = 30;
constexpr int kEnoughPairs = 5;  // With fewer nothing is shown by them.

bool has(const std::vector<std::string>& stack, const std::string& hypothesis) {
  return std::ranges::find(stack, hypothesis) != stack.end();
}

// Effects in ln add up, and so do their bounds: wider than they need be, never too narrow.
Result<std::optional<model::Comparison>> seen_in_production(Context& context,
                                                            const ledger::Family& family) {
  if (family.stack.empty()) return std::optional<model::Comparison>{};
  model::Comparison sum;
  std::size_t seen = 0;
  for (const CanaryView& view : TRY(read_canaries(context, family.name))) {
    const model::Comparison& c = view.result.comparison;
    if (c.pairs == 0 || !has(family.stack, view.row.canary.hypothesis)) continue;
    ++seen;
    sum.pairs += c.pairs;
    sum.effect += c.effect;
    sum.lower += c.lower;
    sum.upper += c.upper;
  }
  // A change that was never watched may have done anything.
  if (seen == 0 || seen != family.stack.size()) return std::optional<model::Comparison>{};
  return std::optional(sum);
}

// What is booked is of jobs that ran with the changes: per hour that they used.
double saved_per_used(const RoiMonth& banked) {
  return banked.used_accelerator_h > 0 ? banked.banked_accelerator_h / banked.used_accelerator_h
                                       : 0;
}

// A spreadsheet would run a cell that begins like a formula.
std::string csv_cell(const std::string& text) {
  const bool formula =
      !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
  const bool plain = text.find_first_of("\",\r\n") == text.npos && !formula;
  if (plain) return text;
  std::string cell = formula ? "\"'" : "\"";
  for (const char c : text) cell += c == '"' ? "\"\"" : std::string(1, c);
  return cell + "\"";
}

void add(RoiMonth& sum, const RoiMonth& part) {
  sum.spent_accelerator_h += part.spent_accelerator_h;
  sum.spent_usd += part.spent_usd;
  sum.jobs += part.jobs;
  sum.used_accelerator_h += part.used_accelerator_h;
  sum.banked_accelerator_h += part.banked_accelerator_h;
  sum.banked_lower += part.banked_lower;
  sum.banked_upper += part.banked_upper;
}

// Bounds of families and months add up: wider than they need be, never too narrow.
Result<> add_months(Context& context, std::optional<double> price, Roi& roi) {
  std::map<std::pair<std::string, std::string>, RoiMonth> cells;
  const auto cell = [&](const std::string& month, const std::string& family) -> RoiMonth& {
    RoiMonth& found = cells[{month, family}];
    found.month = month;
    found.family = family;
    return found;
  };
  for (const ledger::Outlay& outlay : TRY(context.ledger->outlays("accelerator_s"))) {
    cell(outlay.month, outlay.family).spent_accelerator_h += outlay.spent / 3600;
  }
  std::set<std::string> charged;  // Families; hours of others are priced, here as in all.
  for (const ledger::Outlay& outlay : TRY(context.ledger->outlays("usd"))) {
    cell(outlay.month, outlay.family).spent_usd += outlay.spent;
    charged.insert(outlay.family);
  }
  for (const ledger::Earning& earning : TRY(context.ledger->earnings())) {
    RoiMonth& month = cell(earning.month, earning.family);
    month.jobs = earning.jobs;
    month.used_accelerator_h = earning.used / 3600;
    month.banked_accelerator_h = earning.saved / 3600;
    month.banked_lower = earning.lower / 3600;
    month.banked_upper = earning.upper / 3600;
  }
  for (auto& [_, month] : cells) {
    if (price || !charged.contains(month.family)) {
      month.spent_usd = month.spent_accelerator_h * roi.price;
    }
    if (roi.months.empty() || roi.months.back().month != month.month) {
      roi.months.push_back({.month = month.month, .family = ""});
    }
    add(roi.months.back(), month);
    add(roi.banked, month);
    roi.bookings.push_back(month);
  }
  return Ok{};
}

std::optional<RoiMonth> banked_by(const Roi& roi, const std::string& family) {
  RoiMonth sum;
  for (const RoiMonth& booking : roi.bookings) {
    if (booking.family == family) add(sum, booking);
  }
  sum.family = family;
  return sum.jobs > 0 ? std::optional(sum) : std::nullopt;
}

// The share that the saving is of what the family would cost without it, and whether its jobs
// already run with it.
void weigh(RoiRow& row) {
  const double volume = row.volume_accelerator_h_per_day;
  double share = row.realised_share.value_or(row.predicted_share);
  const bool watched = row.production && row.production->pairs >= kEnoughPairs;
  if (!row.realised_share && watched) share = -std::expm1(-row.production->effect);
  if (row.promoted > 0 && row.banked) {
    row.saved_accelerator_h_per_day = volume * saved_per_used(*row.banked);
  } else if (watched && share < 1) {
    row.saved_accelerator_h_per_day = volume * share / (1 - share);
  } else {
    row.saved_accelerator_h_per_day = volume * share;
    row.without_accelerator_h_per_day = volume;
    return;
  }
  row.without_accelerator_h_per_day = volume + row.saved_accelerator_h_per_day;
}

Result<Prevented> prevented_by(ledger::Ledger& ledger) {
  const std::map<std::string, std::int64_t> tallies = TRY(ledger.tallies());
  const auto count = [&](const std::string& name) {
    const auto found = tallies.find("prevented." + name);
    return found == tallies.end() ? 0 : found->second;
  };
  return Prevented{count("ideas"), count("pairs"),
                   static_cast<double>(count("accelerator_us")) / 3.6e9};
}

}  // namespace

Result<Roi> return_on_investment(Context& context, std::optional<double> price) {
  Roi roi;
  roi.price = price.value_or(context.config.price_accelerator_hour);
  TRY(add_months(context, price, roi));
  roi.prevented = TRY(prevented_by(*context.ledger));
  const std::map<std::string, double> spent = TRY(context.ledger->spent_by_family());
  const std::map<std::string, double> charged = TRY(context.ledger->spent_by_family("usd"));
  std::map<std::string, model::StackResult> stacks;
  for (const model::StackResult& stack : TRY(latest_stacks(context))) {
    stacks.emplace(stack.family, stack);
  }
  const std::vector<ledger::Saving> savings = TRY(context.ledger->savings());
  for (const ledger::Family& family : TRY(context.ledger->families())) {
    RoiRow row;
    row.family = family.name;
    if (const auto it = spent.find(family.name); it != spent.end()) {
      row.spent_accelerator_s = it->second;
    }
    row.spent_usd = row.spent_accelerator_s / 3600 * roi.price;
    if (const auto it = charged.find(family.name); !price && it != charged.end()) {
      row.spent_usd = it->second;
    }
    double left = 1;
    for (const ledger::Saving& saving : savings) {
      if (saving.family != family.name || !has(family.stack, saving.hypothesis)) continue;
      ++row.promoted;
      left *= 1 - saving.predicted_share;
    }
    row.predicted_share = 1 - left;
    const auto stack = stacks.find(family.name);
    const bool current =
        stack != stacks.end() && stack->second.changes == static_cast<int>(family.stack.size());
    if (current && row.promoted > 0) {
      const model::Comparison& c = stack->second.comparison;
      row.realised_share = 1 - std::exp(-c.effect);
      row.realised_pairs = c.pairs;
      row.realised_lower = 1 - std::exp(-c.lower);
      row.realised_upper = 1 - std::exp(-c.upper);
    }
    row.production = TRY(seen_in_production(context, family));
    row.volume_accelerator_h_per_day = family.volume_accelerator_h_per_day;
    row.banked = banked_by(roi, family.name);
    weigh(row);
    row.saved_usd_per_month = kDaysOfAMonth * row.saved_accelerator_h_per_day * roi.price;
    roi.spent_accelerator_h += row.spent_accelerator_s / 3600;
    roi.spent_usd += row.spent_usd;
    roi.saved_accelerator_h_per_day += row.saved_accelerator_h_per_day;
    roi.saved_usd_per_month += row.saved_usd_per_month;
    roi.rows.push_back(std::move(row));
  }
  if (roi.saved_accelerator_h_per_day > 0) {
    // Money of models and CPUs counts too; where an hour has no price, hours are compared.
    const double saved_usd = roi.price * roi.saved_accelerator_h_per_day;
    roi.pays_back_days = saved_usd > 0 ? roi.spent_usd / saved_usd
                                       : roi.spent_accelerator_h / roi.saved_accelerator_h_per_day;
  }
  return roi;
}

std::string roi_csv(const Roi& roi) {
  std::string text =
      "month,family,spent_accelerator_h,spent_usd,jobs,used_accelerator_h,banked_accelerator_h,"
      "banked_lower_accelerator_h,banked_upper_accelerator_h,banked_usd,banked_lower_usd,"
      "banked_upper_usd\r\n";
  for (const RoiMonth& m : roi.bookings) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\r\n", m.month, csv_cell(m.family),
                        m.spent_accelerator_h, m.spent_usd, m.jobs, m.used_accelerator_h,
                        m.banked_accelerator_h, m.banked_lower, m.banked_upper,
                        m.banked_accelerator_h * roi.price, m.banked_lower * roi.price,
                        m.banked_upper * roi.price);
  }
  return text;
}

}  // namespace amdahl::app
