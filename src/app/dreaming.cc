#include "app/dreaming.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/change_key.h"
#include "app/library.h"
#include "app/propose.h"
#include "app/status.h"
#include "base/text.h"
#include "dream/classes.h"
#include "dream/dream.h"
#include "hypothesize/playbook.h"
#include "model/codec.h"
#include "model/patch_edits.h"
#include "os/files.h"
#include "os/program.h"

namespace amdahl::app {
namespace {

constexpr int kEventsAtOnce = 200;

// The class of the bottleneck that the family had when the hypothesis was promoted: of the last
// profile before its baseline moved.
Result<model::Bottleneck> class_before(Context& context, const model::Hypothesis& promoted) {
  bool moved = false;
  std::int64_t before = 0;
  while (true) {
    const auto events = TRY(context.ledger->events(promoted.family, before, kEventsAtOnce));
    for (const ledger::Event& event : events) {
      before = event.seq;
      if (event.kind == "baseline.moved") {
        moved = moved || event.payload.value("hypothesis", "") == promoted.id;
      }
      if (!moved || event.kind != "profile.recorded") continue;
      return TRY(model::decode<model::Profile>(event.payload)).bottleneck;
    }
    if (events.empty()) return model::Bottleneck::kUnknown;
  }
}

// What families have promoted and not rolled back.
Result<std::vector<dream::Win>> all_wins(Context& context,
                                         const std::vector<ledger::Family>& families) {
  std::vector<dream::Win> wins;
  for (const ledger::Family& family : families) {
    for (const std::string& id : family.stack) {
      const ledger::HypothesisRow row = TRY(context.ledger->hypothesis(id));
      const auto verdict = TRY(context.ledger->verdict(id));
      dream::Win win;
      win.hypothesis = row.hypothesis;
      win.gain = verdict && verdict->comparison ? verdict->comparison->shrunk : 0.0;
      win.against = row.hypothesis.bottleneck;
      if (win.against == model::Bottleneck::kUnknown) {
        win.against = TRY(class_before(context, row.hypothesis));
      }
      wins.push_back(std::move(win));
    }
  }
  return wins;
}

// What a family tried that teaches where to look next.
Result<std::vector<dream::Tried>> tried_by(Context& context, const ledger::Family& family) {
  std::vector<dream::Tried> all;
  const std::map<std::string, Parked> waiting = TRY(parked(context));
  for (const ledger::HypothesisRow& row : TRY(context.ledger->hypotheses(family.name, ""))) {
    const auto waits = waiting.find(row.hypothesis.id);
    if (waits != waiting.end()) {
      all.push_back({row.hypothesis, "parked", waits->second.comparison.shrunk});
      continue;
    }
    const auto verdict = TRY(context.ledger->verdict(row.hypothesis.id));
    if (!verdict || !verdict->comparison) continue;
    // What was rolled back is no win.
    const bool stands = std::ranges::find(family.stack, row.hypothesis.id) != family.stack.end();
    if (row.state == "promoted" && !stands) continue;
    all.push_back({row.hypothesis, row.state, verdict->comparison->shrunk});
  }
  return all;
}

constexpr double kWorthALead = 0.05;  // Share of the cost that its class has.
constexpr std::size_t kLinesShown = 2;
constexpr std::size_t kTellingLine = 12;

// Lines of the family's repository that are those which the commit removed: "train.py:12".
std::vector<std::string> lines_alike(const std::string& repo, const std::string& diff) {
  std::vector<std::string> places;
  if (repo.empty()) return places;
  for (const model::FileEdit& file : model::read_patch(diff)) {
    for (const model::LineEdit& edit : file.edits) {
      for (const std::string& line : edit.removed) {
        const std::string text(trim(line));
        if (text.size() < kTellingLine || places.size() >= kLinesShown) continue;
        std::string found;
        const auto looked = os::run_program(
            {.argv = {"git", "-C", repo, "grep", "-n", "-I", "-F", "-e", text}},
            [&](std::string_view bytes) -> Result<> {
              found += bytes;
              return Ok{};
            },
            [] { return false; });
        if (!looked || found.empty()) continue;
        const std::string first = found.substr(0, found.find('\n'));
        const std::vector<std::string_view> parts = split(first, ':');
        if (parts.size() > 2) places.push_back(fmt::format("{}:{}", parts[0], parts[1]));
      }
    }
  }
  return places;
}

// What a commit says and adds, to be read like a document.
dream::Passage passage_of(const FoundLead& lead) {
  std::string text = lead.text + "\n";
  for (const model::FileEdit& file : model::read_patch(lead.diff)) {
    for (const model::LineEdit& edit : file.edits) {
      for (const std::string& line : edit.added) text += "    " + line + "\n";
    }
  }
  return {lead.origin, 1, lead.title, text};
}

// One dream, family by family.
class Dreamer {
 public:
  Dreamer(Context& context, Library library, std::vector<hypothesize::Entry> playbook,
          std::int64_t fence)
      : context_(context),
        library_(std::move(library)),
        playbook_(std::move(playbook)),
        fence_(fence) {}

  Result<DreamOutcome> run(const std::string& only) {
    const std::vector<ledger::Family> families = TRY(context_.ledger->families());
    for (const ledger::Family& family : families) specs_.emplace(family.name, family.spec);
    wins_ = TRY(all_wins(context_, families));
    outcome_.wins_searched = static_cast<int>(wins_.size());
    outcome_.documents = library_.documents();
    outcome_.passed_over = library_.passed_over();
    outcome_.unread = library_.unread();
    outcome_.unchanged = library_.unchanged();
    outcome_.repositories = library_.repositories();
    outcome_.commits = library_.commits();
    outcome_.new_commits = library_.new_commits();
    for (FoundLead& lead : TRY(library_.leads())) outcome_.leads.push_back({std::move(lead), {}});
    outcome_.duplicates = library_.duplicates();
    for (const ledger::Family& family : families) {
      if (!only.empty() && family.name != only) continue;
      if (family.profile) {
        TRY(dream(family));
      } else {
        outcome_.unprofiled.push_back(family.name);
      }
    }
    return std::move(outcome_);
  }

 private:
  Result<> dream(const ledger::Family& family) {
    const dream::Target ground{family.spec,
                               family.baseline,
                               *family.profile,
                               context_.hardware_for(family.name),
                               {.min_gain = context_.config.min_gain}};
    std::vector<model::Hypothesis> ideas = taken(family, dream::from_wins(wins_, specs_, ground));
    const dream::Query query = dream::query_for(*family.profile, family.spec, playbook_);
    if (query.words.empty()) outcome_.unclassified.push_back(family.name);
    const std::vector<dream::Passage> passages = TRY(library_.find(query));
    for (const dream::Passage& passage : passages) seen_.insert({passage.document, passage.line});
    outcome_.passages = static_cast<int>(seen_.size());
    if (passages.size() >= Library::kPassagesPerSearch) outcome_.more_passages = true;
    std::ranges::move(taken(family, dream::from_passages(passages, playbook_, ground)),
                      std::back_inserter(ideas));
    std::ranges::move(
        taken(family, dream::from_tried(TRY(tried_by(context_, family)), ground)),
        std::back_inserter(ideas));
    std::vector<dream::Passage> commits;
    for (DreamLead& lead : outcome_.leads) {
      TRY(follow(family, lead));
      if (!lead.found.diff.empty()) commits.push_back(passage_of(lead.found));
    }
    std::ranges::move(taken(family, dream::from_passages(commits, playbook_, ground)),
                      std::back_inserter(ideas));
    return inject(family, std::move(ideas));
  }

  // Which families a lead fits. Code of strangers is not run because a text praises it: a diff that
  // applies is kept for a person or an agent to read and propose.
  Result<> follow(const ledger::Family& family, DreamLead& lead) {
    const dream::Lead& told = lead.found.lead;
    if (dream::share_of_class(*family.profile, told.bottleneck) < kWorthALead) return Ok{};
    lead.families.push_back(family.name);
    if (lead.found.diff.empty()) return Ok{};
    const auto leave = [&](std::string because) {
      outcome_.left_out.push_back(
          {family.name, told.technique, lead.found.origin, std::move(because)});
    };
    const std::string& repo = family.spec.repo;
    if (!effect_of(repo, family.baseline.patch, lead.found.diff)) {
      const std::vector<std::string> alike = lines_alike(repo, lead.found.diff);
      leave(alike.empty() ? "its diff does not apply here"
                          : fmt::format("its diff does not apply here, but {} looks alike",
                                        join(alike, " and ")));
      return Ok{};
    }
    const std::string file = context_.path(
        fmt::format("dream/{}.patch", lead.found.origin.substr(lead.found.origin.rfind('@') + 1)));
    TRY(os::write_file(file, lead.found.diff));
    leave(fmt::format("its diff applies; read it, then: amdahl propose {} --patch {}", family.name,
                      file));
    return Ok{};
  }

  std::vector<model::Hypothesis> taken(const ledger::Family& family, dream::Dreams dreamt) {
    for (const dream::RejectedIdea& idea : dreamt.left_out) {
      outcome_.left_out.push_back({family.name, idea.what, idea.origin, idea.because});
    }
    return std::move(dreamt.ideas);
  }

  // At most as many ideas of dream may wait as one profile may bring, so that a folder of documents
  // does not delay the ideas that the evidence supports.
  Result<std::size_t> room_for(const ledger::Family& family) {
    const auto live = TRY(context_.ledger->hypotheses(family.name, "live"));
    const auto dreamt = std::ranges::count_if(
        live, [](const auto& row) { return row.hypothesis.origin.kind == "dream"; });
    return static_cast<std::size_t>(std::max<std::int64_t>(0, context_.config.queue - dreamt));
  }

  Result<> inject(const ledger::Family& family, std::vector<model::Hypothesis> ideas) {
    ideas = keyed_by_effect(context_, family, std::move(ideas));
    std::set<std::string> keys;
    std::erase_if(ideas, [&](const model::Hypothesis& h) { return !keys.insert(h.key).second; });
    const std::size_t found = ideas.size();
    const std::size_t room = TRY(room_for(family));
    ProposeOutcome admitted = TRY(admit(context_, std::move(ideas), "dream", room));
    if (!admitted.drafts.empty()) TRY(context_.ledger->append(admitted.drafts, fence_));
    std::size_t settled = admitted.fresh.size();
    for (const auto& [state, count] : admitted.known) {
      outcome_.known[state] += count;
      settled += static_cast<std::size_t>(count);
    }
    outcome_.queue_is_full += static_cast<int>(found - settled);
    std::ranges::move(admitted.fresh, std::back_inserter(outcome_.injected));
    return Ok{};
  }

  Context& context_;
  Library library_;
  std::vector<hypothesize::Entry> playbook_;
  std::int64_t fence_;
  std::map<std::string, model::Spec> specs_;
  std::vector<dream::Win> wins_;
  std::set<std::pair<std::string, int>> seen_;  // Passages that were found for some family.
  DreamOutcome outcome_;
};

}  // namespace

Result<DreamOutcome> dream_up(Context& context, const DreamOptions& options) {
  if (!options.family.empty()) TRY(need_family(context, options.family));
  const std::string docs = options.docs.empty() ? context.config.docs_dir : options.docs;
  TRY(make_state(context.path("dream")));
  Library library = TRY(Library::open(docs, context.path("dream/index.db"))
                            .in(options.docs.empty() ? "dream.docs" : "--docs"));
  Dreamer dreamer(context, std::move(library), TRY(usable_playbook()), options.fence);
  DreamOutcome outcome = TRY(dreamer.run(options.family));
  if (!docs.empty()) outcome.docs = os::absolute(docs);
  return outcome;
}

}  // namespace amdahl::app
