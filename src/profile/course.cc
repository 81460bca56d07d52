#include "profile/course.h"

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/text.h"
#include "profile/causes.h"
#include "profile/ceiling.h"

namespace amdahl::profile {
namespace {

class Teller {
 public:
  explicit Teller(const model::Profile& profile) : profile_{profile} {}

  std::optional<double> number(const char* name) const {
    const auto found = profile_.evidence.find(name);
    if (found == profile_.evidence.end() || !std::isfinite(found->second)) return std::nullopt;
    return found->second;
  }

  // "imports 1.56 s"; empty below 1 ms.
  std::string seconds(const char* share, std::string_view label) const {
    const auto part = number(share);
    const double time = part.value_or(0) * number("hook.wall_s").value_or(0);
    return time >= 0.001 ? fmt::format("{} {}", label, show_seconds(time)) : "";
  }

 private:
  const model::Profile& profile_;
};

void add(std::vector<std::string>& parts, std::string part) {
  if (!part.empty()) parts.push_back(std::move(part));
}

}  // namespace

std::vector<std::string> course_of(const model::Profile& profile) {
  const Teller tell(profile);
  std::vector<std::string> lines;
  if (tell.number("hook.wall_s").value_or(0) <= 0) return lines;
  std::vector<std::string> parts;
  const std::string imports = tell.seconds("hook.import_share", "imports");
  const std::string start = tell.seconds("hook.startup_share", "start-up");
  add(parts, !start.empty() && !imports.empty() ? fmt::format("{} ({})", start, imports)
                                                : start + imports);
  add(parts, tell.seconds("hook.first_batch_share", "first batch"));
  add(parts, tell.seconds("hook.warmup_share", "warm-up (time above usual steps)"));
  add(parts, tell.seconds("hook.teardown_share", "after the last step"));
  if (!parts.empty()) lines.push_back(join(parts, ", "));
  const double needed = tell.number(kNeededImports).value_or(0);
  if (needed >= kSmallestCause) {
    lines.push_back(
        fmt::format("{} ({}) went to importing installed packages that the job uses; only more "
                    "work per process reduces that share",
                    show_seconds(needed * to_seconds(profile.wall)), show_percent(needed)));
  }
  const auto steps = tell.number("hook.steps");
  const auto median = tell.number("hook.step_p50_ms");
  if (steps.value_or(0) > 0 && median) {
    lines.push_back(fmt::format("{} steps, median {} ms, 95th percentile {} ms", *steps,
                                show_number(*median),
                                show_number(tell.number("hook.step_p95_ms").value_or(*median))));
  }
  if (const auto share = tell.number("hook.overhead_share")) {
    const double wall = *tell.number("hook.wall_s");
    std::string line =
        fmt::format("the hook itself took {} (not counted above)", show_seconds(*share * wall));
    if (const auto beside = tell.number("hook.lines_share")) {
      line += fmt::format(", and {} of CPU in its own thread", show_seconds(*beside * wall));
    }
    if (const auto last = tell.number("hook.exit_s"); last.value_or(0) >= 0.001) {
      line += fmt::format("; writing its report after the job took {}", show_seconds(*last));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace amdahl::profile
