// openai.h: any server with OpenAI's chat completions: SGLang, vLLM, llama.cpp and others.
#pragma once

#include "agent/agent.h"
#include "os/http.h"

namespace amdahl::agent::openai {

Turn ask(const Runtime& runtime, const Question& question, Nanos limit, const Stop& stop);
Kind::State look(const Runtime& runtime);

Turn read(const Result<os::HttpAnswer>& answer);

}  // namespace amdahl::agent::openai
