// agent.h: asks a model one question; whatever happens, the reply says what came and what it cost.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/result.h"
#include "base/units.h"
#include "brief/brief.h"

namespace amdahl::agent {

// Names are written to the ledger: never renamed, never reused.
enum class Failure : std::uint8_t {
  kNone,
  kNotInstalled,   // No such program.
  kNotAuthorised,  // The key is missing, wrong or not allowed to.
  kUnreachable,    // No connection, or no answer from the server in time.
  kOverloaded,     // The server asks to come back later, or the account's limit is reached.
  kTimeout,        // Our deadline.
  kTurnLimit,
  kMoneyLimit,
  kNoAnswer,       // It talked, and gave no JSON.
  kInvalidAnswer,  // JSON that does not fit the schema, after one repair.
  kTooLong,        // More output than is allowed.
  kFailed,         // The client or the server failed otherwise.
  kInterrupted,    // By us or by a signal.
};
std::string_view name(Failure failure);  // "not installed", ...
std::optional<Failure> failure_named(std::string_view name);

struct Tokens {
  std::int64_t input = 0;   // All that was read, cached or not.
  std::int64_t cached = 0;  // Of those, from a cache.
  std::int64_t output = 0;

  std::int64_t total() const { return input + output; }
  Tokens& operator+=(const Tokens& more);
  friend bool operator==(const Tokens&, const Tokens&) = default;
};

// US dollars for a million tokens.
struct Price {
  double input = 0;
  double cached = 0;
  double output = 0;
};
// Of our own table; nothing for a model that it does not know.
std::optional<Price> price_of(std::string_view model);
Usd cost(const Tokens& tokens, const Price& price);

// One configured model.
struct Runtime {
  std::string kind;                // "claude", "codex", "openai".
  std::string model;               // As the runtime takes it.
  std::string program;             // Of a client; empty: the kind's own name, found on PATH.
  std::string url;                 // Of the server; empty: the client's default.
  std::string key_env;             // The variable of this process that holds the key; empty: none.
  bool own_configuration = false;  // Let a client read the user's login and configuration.
  std::optional<Price> price;      // Else that of the table.
};

struct Question {
  std::string id;
  brief::Role role = brief::Role::kPropose;
  std::string prompt;
  std::string folder;    // Its own: transcripts, the client's home. Must exist.
  std::string checkout;  // What a client may read besides; empty: nothing.
  Nanos deadline = std::chrono::minutes(10);  // For all attempts.
  std::int64_t most_tokens = 60000;
  Usd most_usd{0.5};
  int most_turns = 12;
  std::size_t most_bytes = 4 << 20;  // Of output.
};

// What one attempt gave, as its runtime reports it.
struct Turn {
  Failure failure = Failure::kNone;
  std::string because;                 // One sentence for people; empty if all is well.
  std::optional<Json> answer;          // Not yet validated.
  std::string said;                    // What the model wrote instead, or the answer as text.
  std::optional<Tokens> tokens;        // Nothing: unknown.
  std::optional<double> reported_usd;  // The client's own figure.
};

struct Reply {
  Failure failure = Failure::kNone;
  std::string because;
  std::optional<Json> answer;  // Fits the schema of its role.
  Tokens tokens;
  bool tokens_known = true;  // False: some attempt did not say what it used.
  std::optional<Usd> cost;   // By our prices; nothing if they or the tokens are unknown.
  std::optional<double> reported_usd;
  int attempts = 0;
  Nanos took{};
};
Json encode(const Reply& reply);
Result<Reply> decode_reply(const Json& json);

// Asked whether to give up.
using Stop = std::function<bool()>;

// One way to reach models. `limit`: for this attempt.
struct Kind {
  std::string_view name;
  std::string_view what;  // As people read it.
  Turn (*ask)(const Runtime& runtime, const Question& question, Nanos limit, const Stop& stop);
  // "ok: …" or what is missing, and who pays; costs nothing.
  struct State {
    bool works = false;
    std::string detail;
    std::string fix;
  };
  State (*look)(const Runtime& runtime);
};
std::span<const Kind> kinds();

// Asks, validates, and once asks again with the validator's words. Ends within the deadline and
// ten seconds, and leaves no process behind. Keeps a redacted transcript in the folder. One
// question at a time in a process.
Reply ask(const Runtime& runtime, const Question& question, const Stop& stop = {});

}  // namespace amdahl::agent
