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
  double spent_usd = 0;            // The same as it was charged, CPU time included.
  int promoted = 0;
  double predicted_share = 0;            // Of the promoted changes together.
  std::optional<double> realised_share;  // Of the stack as re-measured.
  int realised_pairs = 0;
  double realised_lower = 0;  // Bounds of the realised share.
  double realised_upper = 0;
  // Of the stack as its canaries saw it in production: the sum of what each change did.
  std::optional<model::Comparison> production;
  double volume_accelerator_h_per_day = 0;
  double saved_accelerator_h_per_day = 0;
  double saved_usd_per_month = 0;  // Of 30 days.
};

struct Roi {
  std::vector<RoiRow> rows;
  double price = 0;  // USD per accelerator-hour.
  double spent_accelerator_h = 0;
  double spent_usd = 0;  // As charged at the time; at a price of the caller's, all of it at that.
  double saved_accelerator_h_per_day = 0;
  double saved_usd_per_month = 0;
  std::optional<double> pays_back_days;
};

Result<Roi> return_on_investment(Context& context, std::optional<double> price);

}  // namespace amdahl::app
