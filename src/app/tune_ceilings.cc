#include "app/tune_ceilings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/effects.h"
#include "base/count.h"
#include "base/text.h"
#include "hypothesize/playbook.h"
#include "ledger/event.h"
#include "loop/verdict.h"
#include "stats/promise.h"

namespace amdahl::app {
namespace {

// Evidence that is of one cause alone; the first is its share as the profile has it.
struct Removable {
  std::string_view cause;
  std::array<std::string_view, 4> evidence;
};
constexpr auto kRemovable = std::to_array<Removable>({
    {"input", {"input_wait_share", "hook.input_wait_share"}},
    {"logging", {"logging_share", "waits.step.write_share", "hook.fsync_share"}},
    {"checkpoint", {"checkpoint_share", "hook.save_share"}},
});

bool is_of(const Removable& row, const std::string& evidence) {
  return std::ranges::find(row.evidence, evidence) != row.evidence.end();
}

// Live ideas without an experiment that act on the cause and on nothing else.
Result<std::vector<model::Hypothesis>> ideas_on(Context& context, const std::string& family,
                                                const Removable& row) {
  const std::vector<hypothesize::Entry> playbook = TRY(hypothesize::embedded_playbook());
  std::set<std::string> tested;
  for (const ledger::ExperimentRow& x : TRY(context.ledger->live_experiments())) {
    tested.insert(x.experiment.hypothesis);
  }
  std::vector<model::Hypothesis> ideas;
  for (const ledger::HypothesisRow& live : TRY(context.ledger->hypotheses(family, "live"))) {
    const model::Hypothesis& h = live.hypothesis;
    const auto entry = std::ranges::find(playbook, h.origin.ref, &hypothesize::Entry::id);
    if (h.origin.kind != "playbook" || entry == playbook.end() || tested.contains(h.id)) continue;
    const bool alone =
        !entry->explains.empty() &&
        std::ranges::all_of(entry->explains, [&](const auto& name) { return is_of(row, name); });
    if (alone) ideas.push_back(h);
  }
  return ideas;
}

// What is left to save without the cause, at most.
double most_saved(const Ceiling& ceiling) { return 1 - 1 / std::max(1.0, ceiling.upper); }

}  // namespace

Result<std::vector<std::string>> causes_to_measure(Context& context, const std::string& family,
                                                   int ideas) {
  std::vector<std::string> causes;
  const ledger::Family known = TRY(need_family(context, family));
  if (!known.profile) return causes;
  for (const Removable& row : kRemovable) {
    const auto share = known.profile->evidence.find(std::string(row.evidence.front()));
    const bool shows = share != known.profile->evidence.end() && share->second > 0;
    const auto on = TRY(ideas_on(context, family, row));
    if (shows && static_cast<int>(on.size()) >= ideas) causes.emplace_back(row.cause);
  }
  return causes;
}

Result<> weigh_by(Context& context, const Ceiling& ceiling, const WeighOptions& options) {
  if (!ceiling.problem.empty()) return Ok{};
  const auto row = std::ranges::find(kRemovable, ceiling.cause, &Removable::cause);
  const double most = most_saved(ceiling);
  for (const model::Hypothesis& h : TRY(ideas_on(context, options.family, *row))) {
    if (most < 1 - std::exp(-stats::kSmallestGain)) {
      const std::string reason =
          fmt::format("even without its cause too little is saved ({})", describe(ceiling));
      TRY(note(context,
               draft_of(loop::dropped(h, reason, context.clock->unix_time()), loop::kActor)));
      options.say(fmt::format("{}: '{}' is dropped: {}", h.family, h.title, reason));
    } else if (h.predicted_gain > most) {
      TRY(note(context, {"hypothesis.revised",
                         "cycle",
                         h.id,
                         {{"predicted_gain", most},
                          {"ceiling_share", h.ceiling_share},
                          {"prior", h.prior},
                          {"profile", h.profile}}}));
    }
  }
  return Ok{};
}

Result<std::vector<Ceiling>> weigh_ideas(Context& context, const std::vector<std::string>& causes,
                                         const WeighOptions& options) {
  const ledger::Family family = TRY(need_family(context, options.family));
  if (causes.empty() || !family.profile) return std::vector<Ceiling>{};
  CeilingOptions measure;
  measure.run.spec_file = options.spec_file.empty()
                              ? context.path(fmt::format("specs/{}.toml", options.family))
                              : options.spec_file;
  measure.run.family = options.family;
  measure.run.quiet = true;
  measure.run.no_input = true;
  measure.causes = causes;
  measure.pairs = options.pairs;
  measure.say = options.say;
  measure.stopped = options.stopped;
  const std::vector<Ceiling> ceilings =
      TRY(measure_ceilings(context.config, measure, *family.profile));
  for (const Ceiling& ceiling : ceilings) {
    options.say(fmt::format("{}: {}", options.family, describe(ceiling)));
    TRY(weigh_by(context, ceiling, options));
  }
  return ceilings;
}

std::string describe(const Ceiling& ceiling) {
  std::string text = ceiling.cause + ": ";
  if (ceiling.computed) text += fmt::format("computed at most {:.2f}x, ", *ceiling.computed);
  if (!ceiling.problem.empty()) return text + "not measured: " + ceiling.problem;
  return text + fmt::format("measured {:.2f}x ({:.2f} to {:.2f}, {})", ceiling.measured,
                            ceiling.lower, ceiling.upper, counted(ceiling.pairs, "pair"));
}

}  // namespace amdahl::app
