// event.h: what the ledger remembers, with its JSON: events, and drafts of them.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/units.h"

namespace amdahl::ledger {

// What is to be remembered. The store adds number, time and hash, redacts secrets, and writes the
// projections in the same transaction. Kinds and payloads: docs/format/ledger.md.
struct Draft {
  std::string kind;     // "hypothesis.proposed", ...
  std::string actor;    // Who: "cycle", a person's name, "policy:demo".
  std::string subject;  // The id it is about.
  Json payload;
};

struct Event {
  std::int64_t seq = 0;
  Nanos at{};
  std::string actor;
  std::string kind;
  std::string subject;
  Json payload;
  std::string hash;  // SHA-256 over the previous hash and this event.
};

// What the last scan gave the loop to work on next.
struct Choice {
  std::string family;  // Empty: nothing had anything to get back.
  Nanos at{};
  Json body;  // The payload of scan.chose: docs/format/ledger.md.
};

}  // namespace amdahl::ledger
