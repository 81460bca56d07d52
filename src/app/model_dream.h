// model_dream.h: what a dreaming model reads, and what of its answer is taken.
#pragma once

#include <string>
#include <vector>

#include "app/answer.h"
#include "app/context.h"
#include "base/json.h"
#include "base/result.h"
#include "ledger/ledger.h"

namespace amdahl::app {

// Passages and commits of the configured documents that fit the family's causes, each on one line:
// "SOURCE: TEXT". None without documents.
Result<std::vector<std::string>> texts_for(Context& context, const ledger::Family& family);

struct ReadDream {
  Json proposals;  // An answer of the role "propose".
  std::vector<RefusedIdea> refused;
};
// `answer` fits the schema of the role "dream", `brief` is what was asked. An idea whose quote does
// not stand there word for word, with the source that it names, is refused.
ReadDream read_dream(const Json& answer, const std::string& brief);

}  // namespace amdahl::app
