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
#include "dream/dream.h"
#include "hypothesize/playbook.h"
#include "model/codec.h"
#include "os/files.h"

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
                               context_.hardware,
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
    return inject(family, std::move(ideas));
  }

  std::vector<model::Hypothesis> taken(const ledger::Family& family, dream::Dreams dreamt) {
    for (const dream::RejectedIdea& idea : dreamt.left_out) {
      outcome_.left_out.push_back({family.name, idea.what, idea.origin, idea.because});
    }
    return std::move(dreamt.ideas);
  }

  // No more dreamt ones may wait than one profile may bring: a shelf of documents must not bury
  // what the evidence asks for.
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
  Library library = TRY(Library::open(docs).in(options.docs.empty() ? "dream.docs" : "--docs"));
  Dreamer dreamer(context, std::move(library), TRY(usable_playbook()), options.fence);
  DreamOutcome outcome = TRY(dreamer.run(options.family));
  if (!docs.empty()) outcome.docs = os::absolute(docs);
  return outcome;
}

}  // namespace amdahl::app
