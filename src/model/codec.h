// codec.h: encodes the domain types as JSON and decodes them: receipts, ledger events, --json.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "model/hypothesis.h"
#include "model/plan.h"
#include "model/profile.h"
#include "model/receipt.h"
#include "model/spec.h"
#include "model/usage.h"

namespace amdahl::model {

// Defined for Change, Spec, Plan, Receipt, Usage, Profile, Hypothesis, Experiment, Comparison,
// Finding, Verdict, GatePacket, GateDecision, StackResult, PairFact.
// NaN and infinities are written as the strings "nan", "inf", "-inf"; enumerators by name;
// durations as integer nanoseconds in fields named *_ns; utilisation as integer per mille.
template <class Noun>
Json encode(const Noun& noun);

// Errors name the path of the field: "/utilisation/interval_ns: type must be integer, but is
// string".
// Unknown fields are ignored (a newer writer). Missing fields keep their defaults, except identity
// fields (id, family), which are required.
template <class Noun>
Result<Noun> decode(const Json& json);
template <class Noun>
Result<Noun> decode_text(std::string_view text);

// seal() sets `digest` over all other fields. check_seal() is false if any of them changed since.
void seal(Receipt& receipt);
bool check_seal(const Receipt& receipt);

}  // namespace amdahl::model
