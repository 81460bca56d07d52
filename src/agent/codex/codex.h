// codex.h: Codex, run headless.
#pragma once

#include <string>

#include "agent/agent.h"
#include "agent/client.h"

namespace amdahl::agent::codex {

Turn ask(const Runtime& runtime, const Question& question, Nanos limit, const Stop& stop);
Kind::State look(const Runtime& runtime);

// What its events say. `last`: the file with its last message; it does not validate that itself.
Turn read(const ClientEnd& end, const std::string& last);

}  // namespace amdahl::agent::codex
