#include "app/evidence.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/model_dream.h"
#include "app/pairs.h"
#include "app/propose.h"
#include "app/snapshot.h"
#include "base/hash.h"
#include "hypothesize/knob.h"
#include "ledger/event.h"
#include "os/files.h"
#include "os/left.h"

namespace amdahl::app {
namespace {

std::string evidence_path(const Context& context, const std::string& profile) {
  return context.path(fmt::format("runs/{}/evidence.json", profile));
}

// Injections of the playbook whose conditions hold here.
Result<std::vector<hypothesize::Entry>> injections_for(const ledger::Family& family,
                                                       const model::Profile& profile) {
  std::vector<hypothesize::Entry> playbook = TRY(usable_playbook());
  const model::Profile now = hypothesize::on_baseline(profile, family.spec, family.baseline);
  std::erase_if(playbook, [&](const hypothesize::Entry& entry) {
    std::string because;
    return entry.inject.empty() || entry.effect == "semantic" ||
           !hypothesize::applies(entry, now, because);
  });
  return playbook;
}

Result<Json> evidence_of(const ledger::Family& family, const model::Profile& profile,
                         const JobProfile& joined) {
  const std::vector<hypothesize::Entry> injections = TRY(injections_for(family, profile));
  brief::Observed seen{family.spec, family.baseline, profile, {}, {}, {}, {}, {}, nullptr, {}};
  if (!family.spec.repo.empty()) seen.commit = head_of(family.spec.repo);
  for (const model::Cause& cause : profile.causes) {
    const CauseAdvice advice = advice_on(joined, cause);
    std::string line = advice.went_to;
    if (advice.behind != nullptr) {
      line = fmt::format("{}:{}", advice.behind->code.file, advice.behind->code.line);
    }
    seen.notes.push_back({advice.to_try, std::move(line)});
  }
  seen.findings = joined.findings;
  seen.code = joined.code;
  seen.files = joined.files;
  if (joined.waits) seen.waits = &*joined.waits;
  seen.injections = injections;
  return brief::evidence(seen);
}

// Empty if the ledger is older than evidence.
Result<std::string> digest_in_ledger(Context& context, const std::string& profile) {
  for (const ledger::Event& event : TRY(context.ledger->events(profile, 0, 20))) {
    if (event.kind == "run.collected") return event.payload.value("evidence", std::string());
  }
  return std::string();
}

struct Stored {
  Json evidence;
  std::string digest;  // Empty: made anew.
};

Result<Stored> stored_or_anew(Context& context, const ledger::Family& family) {
  const model::Profile& profile = *family.profile;
  const std::string known = TRY(digest_in_ledger(context, profile.id));
  const auto bytes = os::read_left(evidence_path(context, profile.id));
  if (bytes && !known.empty() && sha256_hex(*bytes) == known) {
    return Stored{TRY(parse_json(*bytes).in("evidence.json")), known};
  }
  const Collected collected = collected_in(context.path(fmt::format("runs/{}/B", profile.id)));
  const JobProfile joined = explain(spec_of_run(family.spec, collected), profile, collected);
  return Stored{TRY(evidence_of(family, profile, joined)), ""};
}

// Those that tell most of what to try next come first: a long list is cut at its end.
int rank_of(const std::string& state) {
  constexpr std::array<std::string_view, 5> kFirst{"promoted", "live", "parked", "refuted",
                                                   "harmful"};
  return static_cast<int>(std::ranges::find(kFirst, state) - kFirst.begin());
}

Result<std::vector<brief::KnownIdea>> known_of(Context& context, const Snapshot& snapshot,
                                               const std::string& family) {
  std::vector<brief::KnownIdea> known;
  for (const ledger::HypothesisRow& row : TRY(context.ledger->hypotheses(family, ""))) {
    known.push_back({row.hypothesis, row.state, TRY(context.ledger->verdict(row.hypothesis.id))});
  }
  for (const loop::ExperimentState& x : snapshot.experiments.state().experiments) {
    const auto idea =
        std::ranges::find(known, x.hypothesis, [](const auto& row) { return row.hypothesis.id; });
    if (x.parked && idea != known.end()) idea->state = "parked";
  }
  std::ranges::reverse(known);
  std::ranges::stable_sort(known, {}, [](const auto& idea) { return rank_of(idea.state); });
  return known;
}

// What families with the same bottleneck have promoted.
Result<std::vector<brief::KnownIdea>> wins_like(Context& context, const ledger::Family& family) {
  std::vector<brief::KnownIdea> wins;
  for (const ledger::Family& other : TRY(context.ledger->families())) {
    if (other.name == family.name) continue;
    for (const std::string& id : other.stack) {
      const model::Hypothesis h = TRY(context.ledger->hypothesis(id)).hypothesis;
      const bool acts_on_ours = std::ranges::any_of(
          family.profile->causes,
          [&](const model::Cause& cause) { return cause.bottleneck == h.bottleneck; });
      if (acts_on_ours) wins.push_back({h, "promoted", TRY(context.ledger->verdict(id))});
    }
  }
  return wins;
}

Result<brief::Memory> memory_of(Context& context, const ledger::Family& family) {
  const Snapshot snapshot = TRY(take_snapshot(context, {.family = family.name}));
  brief::Memory memory;
  memory.known = TRY(known_of(context, snapshot, family.name));
  memory.like = TRY(wins_like(context, family));
  for (const loop::ExperimentState& x : snapshot.experiments.state().experiments) {
    if (x.parked || x.stage == model::Stage::kCompare) continue;
    memory.claims.push_back(
        {snapshot.experiments.experiment(x.id), snapshot.experiments.hypothesis(x.hypothesis),
         snapshot.experiments.comparison(x.id), TRY(context.ledger->votes(x.id))});
  }
  for (const auto& [bottleneck, record] : TRY(context.ledger->lever_records())) {
    memory.chances.push_back({bottleneck, record.tried, record.won});
  }
  for (const ledger::Budget& budget : TRY(context.ledger->budgets())) {
    brief::Purse purse{budget.resource, {}, budget.spent + budget.overrun};
    if (budget.limit) purse.left = *budget.limit - budget.committed - purse.spent;
    memory.purses.push_back(std::move(purse));
  }
  return memory;
}

}  // namespace

Result<std::string> write_evidence(Context& context, const ledger::Family& family,
                                   const model::Profile& profile, const JobProfile& joined) {
  const std::string bytes = dump_json(TRY(evidence_of(family, profile, joined)));
  const std::string path = evidence_path(context, profile.id);
  std::error_code ignored;
  if (!os::is_plain(path)) std::filesystem::remove_all(path, ignored);  // Something of the job's.
  TRY(os::write_file(path, bytes));
  return sha256_hex(bytes);
}

Result<Brief> brief_on(Context& context, const std::string& name, brief::Role role,
                       const std::string& experiment) {
  const ledger::Family family = TRY(need_family(context, name));
  if (!family.profile) {
    return Error{Error::Kind::kNotFound,
                 fmt::format("{0} has no profile yet; type: amdahl profile {0}", name)};
  }
  Stored stored = TRY(stored_or_anew(context, family));
  brief::Memory memory = TRY(memory_of(context, family));
  std::erase_if(memory.claims, [&](const brief::Claim& claim) {
    return !experiment.empty() && claim.experiment.id != experiment;
  });
  if (role == brief::Role::kAttack && memory.claims.empty()) {
    return Error{Error::Kind::kNotFound,
                 fmt::format("{} has no claimed win to attack; type: amdahl status", name)};
  }
  if (role == brief::Role::kDream) memory.documents = TRY(texts_for(context, family));
  Brief brief;
  brief.packet = brief::packet(role, std::move(stored.evidence), memory);
  brief.packet["evidence_sha256"] = stored.digest.empty() ? Json() : Json(stored.digest);
  brief.prompt = brief::prompt(brief.packet);
  brief.tokens_estimated = brief::tokens_in(brief.prompt);
  return brief;
}

}  // namespace amdahl::app
