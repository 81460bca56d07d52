// roi.h: hours and money spent and saved, predicted against realised.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "model/hypothesis.h"

namespace amdahl::app {

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
  double volume_accelerator_h_per_day = 0;
  double saved_accelerator_h_per_day = 0;
  double saved_usd_per_month = 0;  // Per 30 days.
};

struct Roi {
  std::vector<RoiRow> rows;
  double price = 0;  // USD per accelerator-hour.
  double spent_accelerator_h = 0;
  double spent_usd = 0;  // As charged at the time; with a price from the caller, at that price.
  double saved_accelerator_h_per_day = 0;
  double saved_usd_per_month = 0;
  std::optional<double> pays_back_days;
};

Result<Roi> return_on_investment(Context& context, std::optional<double> price);

}  // namespace amdahl::app
