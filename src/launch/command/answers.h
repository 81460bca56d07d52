// answers.h: parses the output of a plug-in; no I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/launcher.h"
#include "launch/marks.h"

namespace amdahl::launch::command {

// One answer about a job. Errors name the field.
struct Answer {
  std::string name;
  std::string answer;  // "accepted", "held", "ended", ...
  std::string id;
  std::string reason;
  std::optional<Charge> charge;
};

// {"answers": [...]}: one for each name, in any order; kBadInput if one is missing, duplicate or
// was not asked for.
Result<std::vector<Answer>> parse_answers(std::string_view text,
                                          const std::vector<std::string>& names);

Result<Capacity> parse_capacity(std::string_view text);

SubmitAnswer submit_answer(const Answer& answer);

// The state, from the scheduler's answer and the run's folder. Unknown, because of `problem`,
// without an answer.
RunStatus decide(const std::optional<Answer>& answer, const std::string& problem,
                 const FolderFacts& facts);

std::string worker_id(const std::string& id, const std::string& name);

}  // namespace amdahl::launch::command
