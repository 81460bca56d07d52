// show_scan_parts.h: the parts of a fleet's report in text, and their helpers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/scan.h"
#include "base/amount.h"
#include "cli/options.h"

namespace amdahl::cli {

// Hours, or seconds if the fleet used less than an hour.
struct FleetUnit {
  double seconds = 3600;
  std::string_view name = "accelerator-hours";
  std::string_view brief = "h";

  std::string operator()(double accelerator_seconds) const {
    return show_amount(accelerator_seconds / seconds);
  }
};
FleetUnit unit_of(const scan::Report& report);

inline double share_of(double part, double whole) { return whole > 0 ? part / whole : 0; }
std::string usd(const std::optional<double>& money);  // "$12.50", "$99,074"; "–": unknown.

// Actions by lever: hours and money per week, confidence, and the command.
std::string show_actions(const Flags& flags, const scan::Report& report, std::size_t width);
// The ranked rows in as many columns as fit, and the explanation of the first.
std::string show_rows(const ScanFlags& flags, const app::FleetAnswer& answer, scan::By by,
                      std::size_t width);
// The worst jobs of the first families: parts of their waste, and their timelines.
std::string show_anatomies(const Flags& flags, const app::FleetAnswer& answer, std::size_t width);
// This many characters for an activity; in colour on a terminal.
std::string drawn(const Flags& flags, scan::Activity activity, std::size_t times);

}  // namespace amdahl::cli
