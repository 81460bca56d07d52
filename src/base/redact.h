// redact.h: removes secrets from what is about to be stored, by key and by pattern.
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

// Whether the text is exactly a reference to a variable, "{env:NAME}", as written in place of a
// secret. It is resolved when the job starts and is not a secret itself.
bool is_reference(std::string_view text);

// `text` with everything that looks like a credential replaced: "Bearer …", sk-…, ghp_…, AKIA…,
// JWTs, private key blocks, user:password@ in URLs, -u user:password, Pwd=…; and NAME=value where
// NAME names a secret. References stay.
std::string redact(std::string_view text);
// Avoids ambiguity: a std::string converts to both a text and a document.
inline std::string redact(const std::string& text) { return redact(std::string_view(text)); }
inline std::string redact(const char* text) { return redact(std::string_view(text)); }

// The same for every string in a document. Values under a secret key are removed entirely, and so
// is the word after "--password" in a list. Booleans, nulls and token counts stay. "patch" holds
// source code, where a name's value is an expression: only quoted literals are removed.
Json redact(const Json& value);

// The first place that redact() would change, "/env/HF_TOKEN"; nothing if none. Input that will be
// run is refused if there is one, so that records always match what runs.
std::optional<std::string> first_secret(const Json& value);

}  // namespace amdahl
