#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include "base/text.h"
#include "refute/check.h"

namespace amdahl::refute {
namespace {

using model::Finding;
using model::Vote;

using Ids = std::vector<std::string>;

Ids ids_where(std::span<const Finding> findings, const std::function<bool(const Finding&)>& is) {
  Ids ids;
  for (const Finding& finding : findings) {
    if (is(finding)) ids.push_back(finding.check);
  }
  return ids;
}

const Check* row_of(const Finding& finding) {
  const auto check = std::ranges::find(checks(), finding.check, &Check::id);
  return check == checks().end() ? nullptr : &*check;
}

bool is_mandatory(const Finding& finding) {
  const Check* check = row_of(finding);
  return finding.mandatory || (check != nullptr && check->mandatory);
}

bool asks_when_silent(const Finding& finding) {
  const Check* check = row_of(finding);
  return finding.vote == Vote::kAbstain && check != nullptr && check->asks_when_silent;
}

// Mandatory checks that abstain or were not asked.
Ids unanswered(std::span<const Finding> findings) {
  Ids ids = ids_where(findings, [](const Finding& finding) {
    return is_mandatory(finding) && finding.vote == Vote::kAbstain;
  });
  for (const Check& check : checks()) {
    const bool asked = std::ranges::find(findings, check.id, &Finding::check) != findings.end();
    if (check.mandatory && !asked) ids.emplace_back(check.id);
  }
  return ids;
}

std::string list(const Ids& ids) { return join(ids, ", "); }

// Why a claim that no check refutes is on hold; empty if it is not.
Ids holds(std::span<const Finding> findings, std::size_t agree, bool multiplicity_ok) {
  Ids reasons;
  if (const Ids open = unanswered(findings); !open.empty()) {
    reasons.push_back(fmt::format("no answer from the mandatory checks: {}", list(open)));
  }
  if (!multiplicity_ok) reasons.emplace_back("E is below the campaign's threshold");
  if (2 * agree <= findings.size()) reasons.emplace_back("fewer than half of the checks agree");
  return reasons;
}

}  // namespace

Panel combine(std::span<const Finding> findings, bool multiplicity_ok, bool topped_up) {
  const Ids decisive = ids_where(findings, [](const Finding& f) { return f.decisive; });
  const Ids against = ids_where(findings, [](const Finding& f) { return f.vote == Vote::kRefute; });
  const Ids open = unanswered(findings);
  const auto agree = static_cast<std::size_t>(
      std::ranges::count(findings, Vote::kAgree, [](const Finding& f) { return f.vote; }));
  const std::string votes = fmt::format("{} of {} checks agree", agree, findings.size());

  if (!decisive.empty()) {
    return {Outcome::kRefuted,
            fmt::format("{}; refuted decisively by {}", votes, list(decisive)),
            {},
            {}};
  }
  if (!topped_up && !(against.empty() && open.empty())) {
    Ids wants = against;
    wants.insert(wants.end(), open.begin(), open.end());
    return {Outcome::kTopUp,
            fmt::format("{}; needs targeted pairs for {}", votes, list(wants)),
            wants,
            {}};
  }
  if (!against.empty()) {
    return {Outcome::kRefuted,
            fmt::format("{}; still refuted after targeted pairs by {}", votes, list(against)),
            {},
            {}};
  }
  if (const Ids reasons = holds(findings, agree, multiplicity_ok); !reasons.empty()) {
    return {Outcome::kHold, fmt::format("{}; on hold: {}", votes, join(reasons, "; ")), {}, {}};
  }
  return {Outcome::kSurvives,
          fmt::format("{}; none refutes", votes),
          {},
          ids_where(findings, asks_when_silent)};
}

Ids beyond_pairs(std::span<const Finding> findings, const Evidence& evidence) {
  Ids open = unanswered(findings);
  const Ids helped = helped_by_pairs(open, evidence);
  std::erase_if(
      open, [&](const std::string& id) { return std::ranges::find(helped, id) != helped.end(); });
  return open;
}

}  // namespace amdahl::refute
