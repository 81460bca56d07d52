// roi.h: hours and money spent and saved, predicted against realised.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "model/hypothesis.h"

namespace amdahl::app {

// Hours and money of one month (UTC), of one family or of all. What was banked is measured on jobs
// that ran after a promotion, against what they would have cost without it.
struct RoiMonth {
  std::string month;               // "2026-11".
  std::string family;              // Empty: all.
  double spent_accelerator_h = 0;  // On experiments and profiles.
  double spent_usd = 0;
  std::int64_t jobs = 0;            // That ran with a promoted change,
  double used_accelerator_h = 0;    // and what they cost.
  double banked_accelerator_h = 0;  // Below 0: they cost more than without.
  double banked_lower = 0;          // 95 % interval, in accelerator-hours.
  double banked_upper = 0;
};

struct RoiRow {
  std::string family;
  double spent_accelerator_s = 0;  // On experiments, A/A, profiles and stacks.
  double spent_usd = 0;            // The same as charged, including CPU time.
  int promoted = 0;
  double predicted_share = 0;            // All promoted changes together.
  std::optional<double> realised_share;  // From the re-measured stack.
  int realised_pairs = 0;
  double realised_lower = 0;  // Bounds of the realised share.
  double realised_upper = 0;
  // The stack in production according to its canaries: the sum over changes.
  std::optional<model::Comparison> production;
  double volume_accelerator_h_per_day = 0;  // As the latest scan saw it.
  // What it would be without the promoted changes. Jobs that already run with them cost less:
  // that volume must not be taken for what the saving is a share of.
  double without_accelerator_h_per_day = 0;
  double saved_accelerator_h_per_day = 0;
  double saved_usd_per_month = 0;  // Per 30 days.
  std::optional<RoiMonth> banked;  // All months together; nothing before the first booking.
};

// What was not spent because an answer was known: ideas that came up again, with the pairs that
// their answers had cost.
struct Prevented {
  std::int64_t ideas = 0;
  std::int64_t pairs = 0;
  double accelerator_h = 0;
};

struct Roi {
  std::vector<RoiRow> rows;
  std::vector<RoiMonth> months;    // All families, oldest first.
  std::vector<RoiMonth> bookings;  // By month, then family.
  RoiMonth banked;                 // All of it.
  double price = 0;                // USD per accelerator-hour.
  double spent_accelerator_h = 0;
  double spent_usd = 0;  // As charged at the time; with a price from the caller, at that price.
  double saved_accelerator_h_per_day = 0;
  double saved_usd_per_month = 0;
  std::optional<double> pays_back_days;  // Of all that was spent, in money.
  Prevented prevented;
};

Result<Roi> return_on_investment(Context& context, std::optional<double> price);

// Roi::bookings as a table with a header, RFC 4180.
std::string roi_csv(const Roi& roi);

}  // namespace amdahl::app
