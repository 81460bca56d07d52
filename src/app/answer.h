// answer.h: a model's answer into hypotheses, by the rules that hold for everyone's.
#pragma once

#include <string>
#include <vector>

#include "app/context.h"
#include "app/propose.h"
#include "base/json.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "model/hypothesis.h"

namespace amdahl::app {

struct RefusedIdea {
  std::string title;
  std::string because;
};

struct TakenAnswer {
  ProposeOutcome outcome;
  std::vector<RefusedIdea> refused;
};

// `answer` fits the schema of its role. An idea is refused without a run if it claims more than
// its cause explains or less than compare.min_gain, sets a variable that does more than tune, has a
// patch that does not apply to the repo's commit or touches frozen files, changes nothing, or is
// known in any spelling. Records nothing.
Result<TakenAnswer> take_answer(Context& context, const ledger::Family& family, const Json& answer,
                                const model::Origin& origin);

}  // namespace amdahl::app
