// codec.h: the nouns as JSON and back, as receipts, ledger events and --json carry them.
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
// Not-a-number and infinities are written as the strings "nan", "inf", "-inf"; enumerators by
// name; durations as whole nanoseconds under a name in _ns; utilisation as whole per mille.
template <class Noun>
Json encode(const Noun& noun);

// Fails with the path of the field: "/utilisation/interval_ns: type must be integer, but is
// string".
// Unknown fields are passed over (a newer writer); missing ones keep their defaults unless
// they are the noun's identity (id, family), which must be there.
template <class Noun>
Result<Noun> decode(const Json& json);
template <class Noun>
Result<Noun> decode_text(std::string_view text);

// Sets `digest` from all the rest; check_seal() is false if any of it was changed since.
void seal(Receipt& receipt);
bool check_seal(const Receipt& receipt);

}  // namespace amdahl::model
