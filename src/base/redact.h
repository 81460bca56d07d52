// redact.h: takes secrets out of what we are about to store, by key and by the look of the value.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace amdahl {

inline constexpr std::string_view kRedacted = "[redacted]";

// Whether a name (variable, JSON key, flag) says that its value is a secret: *TOKEN*, *SECRET*,
// *PASSWORD*, *API_KEY*, AUTHORIZATION, ... Not: OMP_NUM_THREADS, "key", "tokens".
bool names_a_secret(std::string_view name);

// `text` with everything that looks like a credential replaced: "Bearer …", sk-…, ghp_…, AKIA…,
// JWTs, private key blocks, user:password@ in URLs, NAME=value where NAME names a secret.
std::string redact(std::string_view text);
// Else a string could be a text or a document.
inline std::string redact(const std::string& text) { return redact(std::string_view(text)); }
inline std::string redact(const char* text) { return redact(std::string_view(text)); }

// The same for every string of a document; values under a secret's key go whole, and so does the
// word after "--password" in a list. Truths, nulls and counts of tokens stay.
Json redact(const Json& value);

}  // namespace amdahl
