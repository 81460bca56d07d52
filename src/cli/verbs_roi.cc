#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/loop.h"
#include "app/campaign.h"
#include "app/context.h"
#include "app/door.h"
#include "app/pages.h"
#include "app/roi.h"
#include "base/amount.h"
#include "base/count.h"
#include "base/text.h"
#include "cli/outputs.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace amdahl::cli {
namespace {

std::string show_money(double usd) {
  return fmt::format("{}${:.2f}", usd < 0 ? "-" : "", std::abs(usd));
}

// Measured on later jobs; a month in which none ran has only costs.
void show_months(const app::Roi& roi) {
  if (roi.banked.jobs == 0) return;
  std::vector<std::vector<std::string>> rows;
  for (const app::RoiMonth& m : roi.months) {
    rows.push_back({m.month, show_money(m.spent_usd), std::to_string(m.jobs),
                    m.jobs == 0 ? "–"
                                : fmt::format("{} ({} to {}, 95 %)",
                                              show_money(m.banked_accelerator_h * roi.price),
                                              show_money(m.banked_lower * roi.price),
                                              show_money(m.banked_upper * roi.price))});
  }
  print("\n" + table({"month", "spent", "later jobs", "banked"}, rows));
}

}  // namespace

Result<int> do_roi(const RoiFlags& flags) {
  constexpr double kNotTyped = -1;
  if (flags.price < 0 && flags.price != kNotTyped) {
    return bad_input("--price is what an accelerator-hour costs, in USD: 0 or more");
  }
  app::Context context = TRY(context_for(flags, false));
  const auto price = flags.price >= 0 ? std::optional(flags.price) : std::nullopt;
  if (!flags.html.empty()) {
    const app::CampaignStory story = TRY(app::read_campaign(context, price));
    TRY(write_page(flags, app::page_of(story)));
  }
  const app::Roi roi = TRY(app::return_on_investment(context, price));
  if (!flags.csv.empty()) TRY(app::write_output(flags.csv, app::roi_csv(roi)).in("--csv"));
  if (flags.json) {
    print_json(api::roi(roi));
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  for (const app::RoiRow& r : roi.rows) {
    rows.push_back(
        {r.family, std::to_string(r.promoted), show_hours(r.spent_accelerator_s / 3600),
         r.promoted ? show_percent(r.predicted_share) : "–",
         r.realised_share
             ? fmt::format("{} ({} to {}, 95 %, {})", show_percent(*r.realised_share),
                           show_percent(r.realised_lower), show_percent(r.realised_upper),
                           counted(r.realised_pairs, "pair"))
             : (r.promoted ? "not re-measured" : "–"),
         r.production ? describe(*r.production) : "–", show_hours(r.volume_accelerator_h_per_day),
         show_hours(r.saved_accelerator_h_per_day), fmt::format("${:.2f}", r.saved_usd_per_month)});
  }
  if (rows.empty()) {
    print("No family has been adopted yet; type: amdahl adopt JOB\n");
    return 0;
  }
  print(table({"family", "promoted", "spent", "predicted", "realised", "in production",
               "uses a day", "saves a day", "a month"},
              rows));
  const bool is_set = price || context.config.set_by.contains("price.accelerator_hour_usd");
  print(fmt::format(
      "\nSpent {} of accelerator time (${:.2f}) on experiments; saves {} a day (${:.2f} "
      "a month at {}${}/h{}).",
      show_hours(roi.spent_accelerator_h), roi.spent_usd,
      show_hours(roi.saved_accelerator_h_per_day), roi.saved_usd_per_month,
      is_set ? "" : "an assumed ", roi.price,
      is_set ? "" : "; set price.accelerator_hour_usd or pass --price"));
  if (roi.pays_back_days) print(fmt::format(" Pays back in {:.1f} days.", *roi.pays_back_days));
  print("\n");
  if (const app::Prevented& p = roi.prevented; p.ideas > 0) {
    print(fmt::format("Not run because the answer was known: {} of {}, about {} (${:.2f}).\n",
                      counted(p.pairs, "pair"), counted(p.ideas, "idea"),
                      show_hours(p.accelerator_h), p.accelerator_h * roi.price));
  }
  show_months(roi);
  return 0;
}

}  // namespace amdahl::cli
