// ended.h: what the runtimes have in common: how a client is started, how its end is read.
#pragma once

#include <string>

#include "agent/agent.h"
#include "agent/client.h"

namespace amdahl::agent {

// With the brief on its input, the question's folder as home, and no variables but those allowed.
ClientOrder client_order(const Question& question, Nanos limit);

// Lets the client read its configuration in the user's home; it still writes to its own.
void share_own_home(ClientOrder& order, const std::string& folder);

// Takes timeout, too much output, an interruption and a failed start into the turn; whether it was
// one of these.
bool ended_early(const ClientEnd& end, Turn& turn);

// "exit 1: last words".
std::string describe_end(const ClientEnd& end);

// The JSON object in what the model said, or kNoAnswer.
void take_answer(Turn& turn);

Failure failure_of_status(int http_status);
// By what a client prints of a server's answer: "unexpected status 401 Unauthorized".
Failure failure_of_words(std::string_view words);

Turn not_installed(std::string_view client, const std::string& program);
Kind::State look_at_client(const Runtime& runtime, const std::string& client,
                           const std::string& install);
// "the owner of the key in NAME", "your subscription", "nobody: no key is used".
std::string who_pays(const Runtime& runtime);

}  // namespace amdahl::agent
