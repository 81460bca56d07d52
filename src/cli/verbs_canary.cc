#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/loop.h"
#include "app/canary.h"
#include "app/door.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace amdahl::cli {
namespace {

using model::CanaryState;

std::vector<std::string> line_of(const app::CanaryView& view) {
  const model::Canary& canary = view.row.canary;
  const model::CanaryResult& r = view.result;
  return {canary.hypothesis,
          canary.family,
          std::string(model::name(view.row.state)),
          fmt::format("{} of {}", r.runs, canary.wanted_runs),
          fmt::format("{}", r.held_back),
          fmt::format("{} of {}", r.failed, r.runs),
          fmt::format("{} of {}", canary.past_failed + r.held_back_failed,
                      canary.past_runs + r.held_back),
          r.comparison.pairs == 0 ? "no pair yet" : describe(r.comparison)};
}

// Text below the table: why, and what a person can do.
std::string note_on(const app::CanaryView& view) {
  const std::string& id = view.row.canary.hypothesis;
  const model::CanaryResult& r = view.result;
  if (view.row.state == CanaryState::kRollbackProposed) {
    return fmt::format("{}: {}; {}\n", id, view.row.reason, app::rollback_hint(id));
  }
  if (view.row.state != CanaryState::kOpen) {
    return fmt::format("{}: {} by {}: {}\n", id, model::name(view.row.state), view.row.actor,
                       view.row.reason);
  }
  if (r.runs + r.held_back + r.running == 0) {
    return fmt::format(
        "{}: no production run yet; start them with: amdahl run --promoted "
        "--family {} -- CMD\n",
        id, view.row.canary.family);
  }
  std::string text = fmt::format("{}: {}", id, r.because);
  if (r.running > 0) text += fmt::format("; {} running", r.running);
  if (r.outcome != CanaryState::kOpen) text += "; the next cycle closes it";
  return text + "\n";
}

}  // namespace

Result<int> do_canary(const CanaryFlags& flags) {
  if (!flags.words.empty() && flags.words.front() == "keep") {
    if (flags.words.size() != 2) return bad_input("canary needs: keep ID --reason TEXT");
    app::Context context = TRY(context_for(flags, false));
    print_outcome(flags,
                  TRY(api::keep(context, {flags.words[1], app::user_or(flags.as), flags.reason})));
    return 0;
  }
  if (flags.words.size() > 1) {
    return bad_input("canary needs one family, or keep ID --reason TEXT");
  }
  app::Context context = TRY(context_for(flags, false));
  const std::string family = flags.words.empty() ? "" : flags.words.front();
  if (flags.json) {
    print_json(TRY(api::canaries(context, family)));
    return 0;
  }
  const std::vector<app::CanaryView> views = TRY(app::read_canaries(context, family));
  if (views.empty()) {
    print("No promoted change is being watched.\n");
    return 0;
  }
  std::vector<std::vector<std::string>> lines;
  std::string notes;
  for (const app::CanaryView& view : views) {
    lines.push_back(line_of(view));
    notes += note_on(view);
    for (const std::string& problem : view.unreadable) {
      fmt::print(stderr, "amdahl: left out {}\n", problem);
    }
  }
  print(
      table({"hypothesis", "family", "state", "runs", "held back", "failed", "without it", "saves"},
            lines));
  print("\n" + notes);
  return 0;
}

}  // namespace amdahl::cli
