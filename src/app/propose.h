// propose.h: turns a profile, or a person's idea, into live hypotheses.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "hypothesize/playbook.h"
#include "ledger/event.h"
#include "ledger/ledger.h"
#include "model/hypothesis.h"
#include "model/profile.h"
#include "profile/findings.h"

namespace amdahl::app {

// The entries whose programs and libraries exist on this machine.
Result<std::vector<hypothesize::Entry>> usable_playbook();

// The result of a batch of ideas.
struct ProposeOutcome {
  std::vector<ledger::Draft> drafts;  // To be appended by the caller in one transaction.
  std::vector<model::Hypothesis> fresh;
  std::map<std::string, int> known;    // State of the holder to number of repeated ideas.
  std::vector<std::string> withdrawn;  // Ids of queued ones that the evidence no longer supports.
  std::string untestable{};            // Why found patches cannot be tested; or "".
};

// From the playbook, and from source lines with a mechanical fix. Records nothing: the drafts
// belong in one transaction with their profile.
Result<ProposeOutcome> propose_from(Context& context, const ledger::Family& family,
                                    const model::Profile& profile,
                                    std::span<const profile::Finding> findings = {});

// Drops what the ledger already knows in any spelling; spends no run. Ideas that ended without an
// answer (inconclusive, invalid, dropped) return only as a different claim: a predicted gain that
// differs by more than a quarter, or a new baseline; those aborted, or parked by an older version,
// always. A patch found in the source does not return with another gain. The first `at_most` of
// the rest are admitted; queued ones get the current prediction.
Result<ProposeOutcome> admit(Context& context, std::vector<model::Hypothesis> ideas,
                             const std::string& actor, std::size_t at_most = 1000);

// "3 ideas came up again and are not retried: 2 no effect, 1 promoted"; empty if none did.
std::string describe_known(const std::map<std::string, int>& known);

// A change as typed.
struct ChangeWords {
  std::vector<std::string> env;     // NAME=VALUE; NAME alone unsets it.
  std::vector<std::string> args;    // FLAG=VALUE, or FLAG alone.
  std::vector<std::string> config;  // FILE#KEY=VALUE.
  std::vector<std::string> inject;  // FIX=VALUE, or FIX alone.
  int accelerators = 0;             // 0: unchanged.
  std::string patch_file;           // Empty: none.
};
// kBadInput for words that are not a change, and for the same thing set twice.
Result<model::Change> parse_change(const ChangeWords& words);

struct Idea {
  model::Change change;
  std::string title;
  double gain = 0;    // Expected share of the cost saved; 0: a default.
  std::string cause;  // Cause of the latest profile that it addresses and cannot exceed; or "".
  std::string actor;
  std::string mechanism{};      // Why it should help.
  std::string from = "person";  // Origin::kind; the actor is its reference.
};

// The hypothesis for the idea, with its key. Records nothing.
Result<model::Hypothesis> draft_idea(Context& context, const std::string& family, const Idea& idea);

// A person's idea; kConflict if the ledger has its key, or an earlier claim blocks it. A parked
// one continues with its pairs, and is returned as it is.
Result<model::Hypothesis> propose_change(Context& context, const std::string& family,
                                         const Idea& idea);

// Whether an experiment tests it now: a parked one continues, a new one waits for a cycle.
Result<bool> is_under_test(Context& context, const std::string& hypothesis);

}  // namespace amdahl::app
