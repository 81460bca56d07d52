// ask_folder.h: the folder of one question, what is asked of whom, and the start of its worker.
#pragma once

#include <string>

#include "agent/agent.h"
#include "app/context.h"
#include "base/json.h"
#include "base/result.h"

namespace amdahl::app {

struct AskFolder {
  std::string path;
  std::string brief() const { return path + "/brief.txt"; }
  std::string request() const { return path + "/request.json"; }
  std::string claim() const { return path + "/claim"; }
  std::string started() const { return path + "/started"; }
  std::string reply() const { return path + "/reply.json"; }
  std::string handed() const { return path + "/handed"; }
};
AskFolder ask_folder(const Context& context, const std::string& id);

Json encode_runtime(const agent::Runtime& runtime);
agent::Runtime decode_runtime(const Json& json);
std::string show(const agent::Runtime& runtime);  // "claude:sonnet".

// Starts the worker of a question that is reserved; starting it twice is harmless.
Result<> hand_over(const AskFolder& folder, const Json& request);

}  // namespace amdahl::app
