#include "app/tuned.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/overlay.h"
#include "app/snapshot.h"
#include "app/tune_ceilings.h"
#include "base/count.h"
#include "base/json.h"
#include "base/text.h"
#include "hypothesize/playbook.h"
#include "model/plan.h"
#include "observe/fixes.h"
#include "os/files.h"
#include "profile/cause_kinds.h"

namespace amdahl::app {
namespace {

namespace fs = std::filesystem;

constexpr int kAllVerdicts = 1000;

std::string with_value(std::string text, const std::string& value) {
  constexpr std::string_view kValue = "{value}";
  if (const auto at = text.find(kValue); at != text.npos) text.replace(at, kValue.size(), value);
  return text;
}

// What the entry that proposed an injection says to commit in its place.
std::vector<std::string> to_commit(const std::vector<hypothesize::Entry>& playbook,
                                   const model::Change& change) {
  std::vector<std::string> lines;
  for (const auto& [fix, value] : change.inject) {
    for (const hypothesize::Entry& entry : playbook) {
      const auto found = entry.inject.find(fix);
      if (found == entry.inject.end() || entry.commit.empty()) continue;
      const bool same = found->second == value || found->second.find('{') != std::string::npos;
      if (same) lines.push_back(with_value(entry.commit, value));
      if (same) break;
    }
  }
  return lines;
}

Result<> collect_verdicts(Context& context, const ledger::Family& family, TuneOutcome& outcome) {
  const std::vector<hypothesize::Entry> playbook = TRY(hypothesize::embedded_playbook());
  for (const std::string& id : family.stack) {
    TunedChange change;
    change.hypothesis = TRY(context.ledger->hypothesis(id)).hypothesis;
    const auto verdict = TRY(context.ledger->verdict(id));
    if (verdict && verdict->comparison) change.comparison = *verdict->comparison;
    if (verdict && verdict->at >= outcome.began) {
      const Nanos after = verdict->at - outcome.began;
      outcome.first_win = std::min(outcome.first_win.value_or(after), after);
    }
    change.commit = to_commit(playbook, change.hypothesis.change);
    if (const auto test = outcome.commits.find(id); test != outcome.commits.end()) {
      if (test->second.is_same) change.patch = test->second.patch;
      change.patch_test = test->second.because;
    }
    outcome.won.push_back(std::move(change));
  }
  std::set<std::string> seen(family.stack.begin(), family.stack.end());
  std::set<std::string> open;  // Titles: what a promotion interrupted has another name now.
  for (const ledger::HypothesisRow& row : TRY(context.ledger->hypotheses(family.name, "live"))) {
    open.insert(row.hypothesis.title);
  }
  for (const model::Verdict& verdict : TRY(context.ledger->verdicts(family.name, kAllVerdicts))) {
    if (!seen.insert(verdict.hypothesis).second) continue;
    const model::Hypothesis h = TRY(context.ledger->hypothesis(verdict.hypothesis)).hypothesis;
    const bool tested = !verdict.experiment.empty() && !open.contains(h.title);
    if (!tested) continue;
    std::string because = verdict.reason;
    if (because.empty() && verdict.comparison) because = verdict.comparison->because;
    outcome.tried.push_back({h.id, h.title, std::string(name(verdict.kind)), because});
  }
  outcome.untested = static_cast<int>(open.size());
  return Ok{};
}

// "'half the accelerators' saves 58 % over 5 pairs so far"; empty if nothing looks like a win.
Result<std::string> leading_of(Context& context, const std::string& family) {
  const Snapshot snapshot = TRY(take_snapshot(context, {.family = family}));
  const loop::ExperimentState* best = nullptr;
  for (const loop::ExperimentState& x : snapshot.experiments.state().experiments) {
    if (x.log_e > 0 && x.effect > 0 && (!best || x.log_e > best->log_e)) best = &x;
  }
  if (!best) return std::string();
  return fmt::format("'{}' saves {} over {} so far", snapshot.experiments.title_of(best->id),
                     show_percent(1 - std::exp(-best->effect)),
                     counted(best->compare_pairs + best->replicate_pairs, "pair"));
}

// What fails without any change is no fault of a change; a person should know of it.
Result<std::string> failing_of(Context& context, const std::string& family) {
  int runs = 0;
  int failed = 0;
  std::string last;
  const auto count = [&](const model::ArmFact& arm) {
    ++runs;
    if (!arm.failed) return;
    ++failed;
    last = arm.failure;
  };
  for (const model::Pair& pair : TRY(context.ledger->family_runs(family))) {
    if (!pair.fact || !pair.block.empty()) continue;  // Others share the block's first run.
    count(pair.fact->a);
    if (pair.aim.purpose == model::Purpose::kSame) count(pair.fact->b);
  }
  if (failed == 0) return std::string();
  return fmt::format("{} of {} of the unchanged job failed{}", failed, counted(runs, "run"),
                     last.empty() ? "" : fmt::format(", the last with: {}", clip(last, 160)));
}

bool is_neighbours(const model::Cause& cause) {
  return cause.id == profile::causes::kOtherWork.id || cause.id == profile::causes::kSteal.id;
}

// The most that could be won, by the largest cause that is the job's own. What its neighbours take
// is said, because it hides small effects.
std::string ceiling_of(const ledger::Family& family) {
  if (!family.profile) {
    return "the budget was spent before the job was profiled; run the same command again with a "
           "larger --budget, or give the job less work to do";
  }
  const model::Cause* own = nullptr;
  const model::Cause* others = nullptr;
  for (const model::Cause& cause : family.profile->causes) {
    const model::Cause*& largest = is_neighbours(cause) ? others : own;
    if (!largest || cause.share > largest->share) largest = &cause;
  }
  std::string text = "the profile shows no cause of waste in the job itself";
  if (own) {
    text = fmt::format("the largest cause of waste in the job itself is {}, {} of its time",
                       own->name, show_percent(own->share));
    if (std::isfinite(own->ceiling)) {
      text += fmt::format(": without it a run would cost at most {} less accelerator time",
                          show_percent(1 - 1 / own->ceiling));
    }
  }
  if (!others) return text;
  return fmt::format("{}; {} takes {} of its time and hides small effects", text, others->name,
                     show_percent(others->share));
}

std::string shell_word(const std::string& text) { return shell_quote({{text}}); }

// Starts the job in its tuned form without amdahl.
std::string run_script(const ledger::Family& family, const model::Plan& plan,
                       const std::string& folder) {
  std::string text = fmt::format(
      "#!/bin/sh\n# {} with all promoted changes. Written by `amdahl tune`.\nset -e\ncd {}\n",
      family.name, shell_word(plan.workdir));
  for (const auto& [name, value] : plan.env) {
    text += fmt::format("export {}={}\n", name, shell_word(value));
  }
  for (const std::string& name : plan.unset) text += fmt::format("unset {}\n", name);
  // What a job keeps from run to run.
  const std::string kept = folder + "/kept";
  if (!plan.inject.empty() || join(plan.argv, " ").find("{state}") != std::string::npos) {
    text += fmt::format("mkdir -p {0}\nexport AMDAHL_STATE={0}\n", shell_word(kept));
  }
  if (!plan.inject.empty()) {
    text +=
        fmt::format("export PYTHONPATH={}${{PYTHONPATH:+:$PYTHONPATH}}\nexport AMDAHL_FIXES={}\n",
                    shell_word(folder + "/hook"), shell_word(dump_json(Json(plan.inject))));
  }
  if (observe::needs_preload(plan.inject)) {
    text += fmt::format("export LD_PRELOAD={}${{LD_PRELOAD:+:$LD_PRELOAD}}\n",
                        shell_word(fmt::format("{}/hook/{}", folder, observe::kPreloadLibrary)));
  }
  if (!plan.patch.empty()) {
    const std::string git = fmt::format("git -C {} apply", shell_word(family.spec.repo));
    const std::string patch = shell_word(folder + "/tuned.patch");
    const std::string build = family.spec.build.empty()
                                  ? ""
                                  : fmt::format(" && (cd {} && {})", shell_word(family.spec.repo),
                                                shell_quote(family.spec.build));
    text += fmt::format(
        "{} --reverse --check {} 2>/dev/null || {{\n  echo {} >&2\n  exit 1\n}}\n", git, patch,
        shell_word(fmt::format("its source is not patched; type: {} {}{}", git, patch, build)));
  }
  std::vector<std::string> argv = plan.argv;
  for (std::string& word : argv) {
    for (std::size_t at = word.find("{state}"); at != word.npos; at = word.find("{state}", at)) {
      word.replace(at, std::string_view("{state}").size(), kept);
      at += kept.size();
    }
  }
  const bool fewer =
      plan.cpus < (family.spec.cpus > 0 ? family.spec.cpus : family.spec.accelerators);
  if (fewer && family.spec.cpus == 0) {
    argv.insert(argv.begin(), {"taskset", "-c", fmt::format("0-{}", plan.cpus - 1)});
  }
  return text + "exec " + shell_quote(argv) + " \"$@\"\n";
}

std::string env_lines(const model::Change& change) {
  std::string text;
  for (const auto& [name, value] : change.env) {
    text += value ? fmt::format("export {}={}\n", name, shell_word(*value))
                  : fmt::format("unset {}\n", name);
  }
  return text;
}

Result<> write_files(Context& context, const ledger::Family& family, TuneOutcome& outcome) {
  outcome.folder = context.path("tuned/" + family.name);
  TRY(os::make_dirs(outcome.folder));
  const model::Plan plan = TRY(make_plan(family.spec, family.baseline));
  const auto keep = [&](const std::string& name, const std::string& text) -> Result<> {
    if (text.empty()) return Ok{};
    TRY(os::write_file(outcome.folder + "/" + name, text));
    outcome.files.push_back(name);
    return Ok{};
  };
  const std::string overlay = TRY(write_overlay(context, family.name));
  const std::string stacked = TRY(os::read_file(overlay));
  TRY(keep("overlay.toml", stacked));
  TRY(keep("tuned.patch", family.baseline.patch));
  TRY(keep("env.sh", env_lines(family.baseline)));
  std::string edits;
  for (const TunedChange& change : outcome.won) edits += change.patch;
  TRY(keep("commit.patch", edits));
  if (!family.baseline.inject.empty()) {
    TRY(observe::write_hook(outcome.folder + "/hook"));
    outcome.files.emplace_back("hook/");
  }
  const std::string script = outcome.folder + "/run.sh";
  TRY(keep("run.sh", run_script(family, plan, outcome.folder)));
  std::error_code failed;
  fs::permissions(script, fs::perms::owner_all, failed);
  if (failed) return external(fmt::format("{}: {}", script, failed.message()));
  outcome.command = fmt::format("amdahl run --promoted --family {}", family.name);
  return Ok{};
}

}  // namespace

Result<> collect_tuned(Context& context, TuneOutcome& outcome) {
  const ledger::Family family = TRY(need_family(context, outcome.family));
  TRY(collect_verdicts(context, family, outcome));
  outcome.leading = TRY(leading_of(context, outcome.family));
  outcome.failing = TRY(failing_of(context, outcome.family));
  outcome.ceiling = ceiling_of(family);
  for (const Ceiling& measured : outcome.ceilings) {
    outcome.ceiling += fmt::format("{}{}", outcome.ceiling.empty() ? "" : "; ", describe(measured));
  }
  if (!outcome.won.empty()) TRY(write_files(context, family, outcome));
  return Ok{};
}

}  // namespace amdahl::app
