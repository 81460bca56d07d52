// redact.h: takes secrets out of what we are about to store, by key and by the look of the value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace amdahl {

inline constexpr std::string_view kRedacted = "[redacted]";

// Whether a name (variable, JSON key, flag) says that its value is a secret: *TOKEN*, *SECRET*,
// *PASSWORD*, *API_KEY*, OPENAI_KEY, AUTHORIZATION, ... Not: OMP_NUM_THREADS, "key", "tokens".
bool names_a_secret(std::string_view name);

// Whether the text is a reference to a variable, "{env:NAME}" alone: what is written where a secret
// belongs. It is resolved where the job starts and is never a secret itself.
bool is_reference(std::string_view text);

// `text` with everything that looks like a credential replaced: "Bearer …", sk-…, ghp_…, AKIA…,
// JWTs, private key blocks, user:password@ in URLs, -u user:password, Pwd=…; and NAME=value where
// NAME names a secret. References stay.
std::string redact(std::string_view text);
// Else a string could be a text or a document.
inline std::string redact(const std::string& text) { return redact(std::string_view(text)); }
inline std::string redact(const char* text) { return redact(std::string_view(text)); }

// The same for every string of a document; values under a secret's key go whole, and so does the
// word after "--password" in a list. Truths, nulls and counts of tokens stay. Under "patch" stands
// source code, where a name's value is an expression: only what is spelled out in quotes goes.
Json redact(const Json& value);

// The first place where redact() would alter the document, "/env/HF_TOKEN"; nothing if nowhere.
// What is to be run is refused if there is one, so that no record differs from what runs.
std::optional<std::string> first_secret(const Json& value);

}  // namespace amdahl
