// dreaming.h: searches wins and documents, and puts what it finds among the live hypotheses.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "model/hypothesis.h"

namespace amdahl::app {

struct DreamOptions {
  std::string docs;    // A folder of text files; empty: the configured one, if any.
  std::string family;  // Empty: all with a profile.
};

struct DreamOutcome {
  std::vector<model::Hypothesis> injected;
  std::map<std::string, int> known;  // State of the holder to count: came up again.
  int wins_searched = 0;
  int documents = 0;
  int passages = 0;
  std::vector<std::string> unprofiled;  // Families that cannot dream yet.
};

Result<DreamOutcome> dream_up(Context& context, const DreamOptions& options);

}  // namespace amdahl::app
