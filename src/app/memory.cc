#include "app/memory.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "app/change_key.h"
#include "ledger/event.h"

namespace amdahl::app {

using hypothesize::Nearness;

Result<std::vector<Remembered>> recall(Context& context, const model::Hypothesis& idea,
                                       std::size_t at_most) {
  std::vector<Remembered> found;
  for (ledger::HypothesisRow& row : TRY(context.ledger->hypotheses("", ""))) {
    if (row.hypothesis.id == idea.id) continue;
    const bool same_key = row.hypothesis.key == idea.key && !idea.key.empty();
    const Nearness nearness =
        same_key ? Nearness::kSameChange : hypothesize::near(idea, row.hypothesis);
    if (nearness != Nearness::kNone) found.push_back({std::move(row), {}, nearness});
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, [&](const Remembered& past) {
    return std::tuple(past.nearness, past.row.hypothesis.family == idea.family, past.row.since);
  });
  if (found.size() > at_most) found.resize(at_most);
  for (Remembered& past : found) {
    past.verdict = TRY(context.ledger->verdict(past.row.hypothesis.id));
  }
  return found;
}

Result<Proposal> propose(Context& context, const std::string& family, const Idea& idea) {
  Proposal proposal;
  model::Hypothesis h = TRY(draft_idea(context, family, idea));
  h.id.clear();  // That of the holder of its key, which is to be found.
  const Result<model::Hypothesis> made = propose_change(context, family, idea);
  if (!made && made.error().kind != Error::Kind::kConflict) return made.error();
  if (made) {
    proposal.accepted = *made;
    proposal.resumed = TRY(is_under_test(context, made->id));
  } else {
    proposal.refused = made.error().text;
  }
  proposal.known = TRY(recall(context, made ? *made : h));
  return proposal;
}

}  // namespace amdahl::app
