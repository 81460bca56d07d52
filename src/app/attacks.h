// attacks.h: what models say against claimed wins: soft votes, settled by pairs and never by words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/context.h"
#include "base/json.h"
#include "base/result.h"
#include "model/hypothesis.h"

namespace amdahl::app {

struct Attack {
  std::string question;  // Its id; empty of one that was just read.
  std::string by;        // "claude:sonnet".
  bool settled = true;
  model::Vote vote = model::Vote::kAbstain;  // Refutes or abstains, never agrees.
  std::string check;                         // Whose targeted pairs settle it; "" of an abstention.
  std::string because;
  Json numbers = Json::array();  // [{name, value}].
};

// From an answer that fits its schema. A refutation must have numbers and name the check whose
// pairs would settle it; kBadInput if it does not.
Result<Attack> attack_in(const Json& answer);

Json encode(const Attack& attack);             // As in the payload of ask.settled.
std::string outcome_of(const Attack& attack);  // "abstained", or "refuted: order".
std::string describe(const Attack& attack);    // "abstains", or "refutes by 'order': because".

// On one experiment, oldest first; those in flight too.
Result<std::vector<Attack>> attacks_on(Context& context, const std::string& family,
                                       const std::string& experiment);

// For people, a line each: "  refute   order      claude:sonnet: because (numbers)".
std::string show_attacks(const std::vector<Attack>& attacks);

// What the n-th question about a claim is to look at, one each; empty after the last.
std::string_view angle(int n);

}  // namespace amdahl::app
