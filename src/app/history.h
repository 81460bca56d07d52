// history.h: hypotheses in the ledger: a page of them, or everything about one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/attacks.h"
#include "app/context.h"
#include "app/status.h"
#include "base/result.h"
#include "ledger/event.h"
#include "ledger/ledger.h"
#include "model/hypothesis.h"

namespace amdahl::app {

// Everything known about one hypothesis.
struct Story {
  ledger::HypothesisRow row;
  std::optional<model::Verdict> verdict;
  std::optional<ledger::ExperimentRow> experiment;
  std::vector<model::Finding> votes;
  std::vector<Attack> attacks;  // Of models, on its experiment.
  std::optional<Parked> parked;
  std::vector<ledger::Event> events;  // Of it and its experiment, oldest first.
};

// By its id, a unique prefix, or its experiment's id.
Result<ledger::HypothesisRow> find_hypothesis(Context& context, const std::string& id);
Result<Story> story_of(Context& context, const ledger::HypothesisRow& row);

struct HypothesisFilter {
  std::string family;       // Empty: all.
  std::string state;        // "live", "parked", "reopened", or a verdict's name; empty: all.
  std::int64_t before = 0;  // From the previous page; 0: the newest.
  int at_most = 50;
};
// Parked hypotheses are listed as parked, not live.
struct HypothesisList {
  ledger::HypothesisPage page;
  std::map<std::string, Parked> parked;  // By hypothesis; those of the page, at least.
};
// kBadInput or kNotFound for a filter that can never match, and for an empty page.
Result<HypothesisList> list_hypotheses(Context& context, const HypothesisFilter& filter);

// Events of a subject (or all, if empty): the last `at_most` before number `before` (0: no limit),
// oldest first.
Result<std::vector<ledger::Event>> events_about(Context& context, const std::string& subject,
                                                std::int64_t before, int at_most);
// Every event after number `after`, oldest first, until `take` returns false.
Result<> each_event(Context& context, const std::function<bool(const ledger::Event&)>& take,
                    std::int64_t after = 0);

// Hypotheses with all these words in title, mechanism, change or verdict.
Result<std::vector<ledger::HypothesisRow>> search(Context& context, const std::string& words,
                                                  int at_most);

// Checks the hash chain, and that replaying the events gives the projections.
Result<ledger::VerifyReport> verify(Context& context);

}  // namespace amdahl::app
