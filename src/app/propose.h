// propose.h: from a profile to live hypotheses, and from a person's idea to one.
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

// The entries whose programs and libraries are on this machine.
Result<std::vector<hypothesize::Entry>> usable_playbook();

// What became of a batch of ideas.
struct ProposeOutcome {
  std::vector<ledger::Draft> drafts;  // To be appended by the caller, together.
  std::vector<model::Hypothesis> fresh;
  std::map<std::string, int> known;    // State of the holder to how many came again.
  std::vector<std::string> withdrawn;  // Ids of queued ones that the evidence no longer carries.
  std::string untestable{};            // Why patches that were found cannot be tested; or "".
};

// From the playbook, and from lines of source whose fix is mechanical. Records nothing: the drafts
// belong in one transaction with the profile they rest on.
Result<ProposeOutcome> propose_from(Context& context, const ledger::Family& family,
                                    const model::Profile& profile,
                                    std::span<const profile::Finding> findings = {});

// Keeps out what the ledger already knows under any spelling: spends no run. What ended without an
// answer (inconclusive, invalid, dropped) comes back only as another claim: its predicted gain
// differs by more than a quarter, or the baseline has moved; what was aborted or parked by an older
// version, always. A patch that
// was found in the source does not come back with another gain. Of the others the first `at_most`
// get in; what still waits is revised to what is predicted now.
Result<ProposeOutcome> admit(Context& context, std::vector<model::Hypothesis> ideas,
                             const std::string& actor, std::size_t at_most = 1000);

// "3 ideas came up again and are not retried: 2 no effect, 1 promoted"; empty if none did.
std::string describe_known(const std::map<std::string, int>& known);

// A change as a person types it.
struct ChangeWords {
  std::vector<std::string> env;     // NAME=VALUE; NAME alone unsets it.
  std::vector<std::string> args;    // FLAG=VALUE, or a bare FLAG.
  std::vector<std::string> config;  // FILE#KEY=VALUE.
  std::vector<std::string> inject;  // FIX=VALUE, or FIX alone.
  int accelerators = 0;             // 0: as before.
  std::string patch_file;           // Empty: none.
};
// kBadInput for words that are no change, and for the same thing set twice.
Result<model::Change> parse_change(const ChangeWords& words);

struct Idea {
  model::Change change;
  std::string title;
  double gain = 0;    // Share of the cost that it should save; 0: a default.
  std::string cause;  // Of the latest profile, which it acts on and cannot save more than; or "".
  std::string actor;
  std::string mechanism{};      // Why it should help.
  std::string from = "person";  // As model::Origin::kind; the actor is its reference.
};

// The hypothesis that the idea makes, with its key. Records nothing.
Result<model::Hypothesis> draft_idea(Context& context, const std::string& family, const Idea& idea);

// A person's idea; kConflict if the ledger holds its key, or an earlier claim stands in the way.
// One that is parked goes on with the pairs it has, and is returned as it is.
Result<model::Hypothesis> propose_change(Context& context, const std::string& family,
                                         const Idea& idea);

// Whether an experiment tests it now: what was parked goes on, what is new waits for a cycle.
Result<bool> is_under_test(Context& context, const std::string& hypothesis);

}  // namespace amdahl::app
