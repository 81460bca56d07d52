#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/campaign.h"
#include "app/context.h"
#include "app/roi.h"
#include "base/count.h"
#include "base/text.h"
#include "cli/campaign_html.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "model/codec.h"
#include "os/clock.h"
#include "os/files.h"

namespace amdahl::cli {

Result<int> do_roi(const Flags& flags) {
  constexpr double kNotTyped = -1;
  if (flags.price < 0 && flags.price != kNotTyped) {
    return bad_input("--price is what an accelerator-hour costs, in USD: 0 or more");
  }
  app::Context context = TRY(context_for(flags, false));
  const auto price = flags.price >= 0 ? std::optional(flags.price) : std::nullopt;
  if (!flags.html.empty()) {
    const std::string page = campaign_page(TRY(app::read_campaign(context, price)),
                                           describe_time(os::real_clock().unix_time()));
    TRY(os::write_shared(os::absolute(flags.html), page).in("--html"));
  }
  const app::Roi roi = TRY(app::return_on_investment(context, price));
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const app::RoiRow& r : roi.rows) {
    list.push_back({{"family", r.family},
                    {"spent_accelerator_s", r.spent_accelerator_s},
                    {"spent_usd", r.spent_usd},
                    {"promoted", r.promoted},
                    {"predicted_share", r.predicted_share},
                    {"realised_share", r.realised_share ? Json(*r.realised_share) : Json()},
                    {"realised_lower", r.realised_share ? Json(r.realised_lower) : Json()},
                    {"realised_upper", r.realised_share ? Json(r.realised_upper) : Json()},
                    {"realised_pairs", r.realised_pairs},
                    {"production", r.production ? encode(*r.production) : Json()},
                    {"volume_accelerator_h_per_day", r.volume_accelerator_h_per_day},
                    {"saved_accelerator_h_per_day", r.saved_accelerator_h_per_day}});
    rows.push_back(
        {r.family, std::to_string(r.promoted), show_number(r.spent_accelerator_s / 3600),
         r.promoted ? show_percent(r.predicted_share) : "–",
         r.realised_share
             ? fmt::format("{} ({} to {}, 95 %, {})", show_percent(*r.realised_share),
                           show_percent(r.realised_lower), show_percent(r.realised_upper),
                           counted(r.realised_pairs, "pair"))
             : (r.promoted ? "not re-measured" : "–"),
         r.production ? describe(*r.production) : "–", show_number(r.volume_accelerator_h_per_day),
         show_number(r.saved_accelerator_h_per_day),
         fmt::format("${:.2f}", 30 * r.saved_accelerator_h_per_day * roi.price)});
  }
  if (flags.json) {
    print_json({{"schema_version", 1},
                {"price_usd", roi.price},
                {"families", list},
                {"spent_accelerator_h", roi.spent_accelerator_h},
                {"spent_usd", roi.spent_usd},
                {"saved_accelerator_h_per_day", roi.saved_accelerator_h_per_day},
                {"pays_back_days", roi.pays_back_days ? Json(*roi.pays_back_days) : Json()}});
    return 0;
  }
  if (rows.empty()) {
    print("No family has been adopted yet; type: amdahl adopt JOB\n");
    return 0;
  }
  print(table({"family", "promoted", "spent h", "predicted", "realised", "in production",
               "runs h/day", "saves h/day", "per month"},
              rows));
  print(
      fmt::format("\nSpent {} accelerator-hours (${:.2f}) on finding out; saves {} a day (${:.2f} "
                  "a month at ${}/h).",
                  show_number(roi.spent_accelerator_h), roi.spent_usd,
                  show_number(roi.saved_accelerator_h_per_day),
                  30 * roi.saved_accelerator_h_per_day * roi.price, roi.price));
  if (roi.pays_back_days) print(fmt::format(" Pays back in {:.1f} days.", *roi.pays_back_days));
  print("\n");
  return 0;
}

}  // namespace amdahl::cli
