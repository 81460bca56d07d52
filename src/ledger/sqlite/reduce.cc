#include "ledger/sqlite/reduce.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "ledger/sqlite/fields.h"

namespace amdahl::ledger::sqlite {
namespace {

// Worth remembering, and no projection needs it.
Result<> only_note(db::Connection&, const Entry&) { return Ok{}; }

constexpr auto kReducers = std::to_array<Reducer>({
    {"campaign.opened", open_campaign},
    {"budget.set", set_budget},
    {"family.adopted", adopt_family},
    {"scan.picked", pick_family},
    {"scan.chose", choose_family},
    {"profile.recorded", record_profile},
    {"hypothesis.proposed", propose_hypothesis},
    {"hypothesis.revised", revise_hypothesis},
    {"hypothesis.reopened", reopen_hypothesis},
    {"hypothesis.known", count_prevented},
    {"experiment.registered", register_experiment},
    {"experiment.staged", stage_experiment},
    {"experiment.resumed", resume_experiment},
    {"run.reserved", reserve_run},
    {"run.submitted", submit_run},
    {"run.collected", collect_run},
    {"run.voided", void_run},
    {"ask.reserved", reserve_ask},
    {"ask.settled", settle_ask},
    {"comparison.made", make_comparison},
    {"check.voted", vote_check},
    {"gate.opened", open_gate},
    {"gate.decided", decide_gate, "packet"},
    {"verdict.recorded", record_verdict},
    {"baseline.moved", move_baseline, "seen"},
    {"baseline.rolled_back", roll_back_baseline, "seen"},
    {"stack.measured", measure_stack},
    {"saving.booked", book_saving},
    {"saving.realised", realise_saving},
    {"canary.opened", open_canary},
    {"canary.closed", close_canary},
    {"cycle.noted", only_note},
    {"lesson.recorded", only_note},
});

Error unknown_kind(std::string_view kind) {
  std::vector<std::string_view> kinds;
  for (const Reducer& reducer : kReducers) kinds.push_back(reducer.kind);
  std::string text = fmt::format("unknown event kind \"{}\"", kind);
  if (const auto near = did_you_mean(kind, kinds)) {
    text += fmt::format(": did you mean \"{}\"?", *near);
  }
  return bad_input(std::move(text));
}

}  // namespace

std::span<const Reducer> reducers() { return kReducers; }

Result<> check_new(const Event& event) {
  const auto found = std::ranges::find(kReducers, event.kind, &Reducer::kind);
  if (found == kReducers.end() || found->must_name == nullptr) return Ok{};
  const std::string where = event.kind + " " + event.subject;
  if (TRY(text_field(event.payload, found->must_name).in(where)).empty()) {
    return bad_input(fmt::format("{}: /{}: must not be empty", where, found->must_name));
  }
  return Ok{};
}

Result<> reduce(db::Connection& db, const Entry& entry) {
  const auto found = std::ranges::find(kReducers, entry.event.kind, &Reducer::kind);
  if (found == kReducers.end()) return unknown_kind(entry.event.kind);
  return found->reduce(db, entry).in(entry.event.kind + " " + entry.event.subject);
}

Error conflict(std::string text) { return {Error::Kind::kConflict, std::move(text)}; }

Result<> same_subject(const Entry& entry, std::string_view id) {
  if (id == entry.event.subject) return Ok{};
  return bad_input(fmt::format("the payload names another subject, \"{}\"", id));
}

Result<> must_find(Result<std::int64_t> changed, std::string_view what, std::string_view id) {
  if (TRY(std::move(changed)) == 0) return conflict(fmt::format("no {} {}", what, id));
  return Ok{};
}

}  // namespace amdahl::ledger::sqlite
