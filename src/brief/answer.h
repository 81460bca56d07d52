// answer.h: what may be answered to a brief: its JSON schema, and whether an answer fits it.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "brief/brief.h"

namespace amdahl::brief {

// JSON Schema as Claude, Codex and OpenAI-compatible servers take it: every field is required, no
// other is allowed.
Json answer_schema(Role role);

// Ok, or kBadInput with every place that does not fit, one a line: "/hypotheses/0/title: ...".
Result<> check_answer(Role role, const Json& answer);

// The JSON object in a model's text: the whole of it, or the one in its only code block.
// kBadInput if there is none.
Result<Json> answer_in(std::string_view text);

}  // namespace amdahl::brief
