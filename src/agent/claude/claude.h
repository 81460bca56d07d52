// claude.h: Claude Code, run headless.
#pragma once

#include <string_view>

#include "agent/agent.h"
#include "agent/client.h"

namespace amdahl::agent::claude {

Turn ask(const Runtime& runtime, const Question& question, Nanos limit, const Stop& stop);
Kind::State look(const Runtime& runtime);

// What its result object says. The exit code and the subtype are not trusted: a failure may have
// exit code 0 or subtype "success".
Turn read(const ClientEnd& end);

}  // namespace amdahl::agent::claude
