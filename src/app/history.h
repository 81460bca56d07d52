// history.h: what the ledger knows of hypotheses: a page of them, or all about one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "app/status.h"
#include "base/result.h"
#include "ledger/event.h"
#include "ledger/ledger.h"
#include "model/hypothesis.h"

namespace amdahl::app {

// All that is known of one hypothesis.
struct Story {
  ledger::HypothesisRow row;
  std::optional<model::Verdict> verdict;
  std::optional<ledger::ExperimentRow> experiment;
  std::vector<model::Finding> votes;
  std::optional<Parked> parked;
  std::vector<ledger::Event> events;  // Of it and its experiment, oldest first.
};

// By its own id, a unique prefix of it, or its experiment's.
Result<ledger::HypothesisRow> find_hypothesis(Context& context, const std::string& id);
Result<Story> story_of(Context& context, const ledger::HypothesisRow& row);

struct HypothesisFilter {
  std::string family;       // Empty: all.
  std::string state;        // "live", "parked", "reopened", or a verdict's name; empty: all.
  std::int64_t before = 0;  // As the page before said; 0: the newest.
  int at_most = 50;
};
// What is parked is no longer called live.
struct HypothesisList {
  ledger::HypothesisPage page;
  std::map<std::string, Parked> parked;  // By hypothesis, of any page.
};
// kBadInput or kNotFound for a filter that nothing can ever match, and for a page of nothing.
Result<HypothesisList> list_hypotheses(Context& context, const HypothesisFilter& filter);

// Events of a subject (or of all, if it is empty): the last `at_most` before number `before` (0: of
// all), oldest first.
Result<std::vector<ledger::Event>> events_about(Context& context, const std::string& subject,
                                                std::int64_t before, int at_most);
// Every event after number `after`, oldest first, until `take` returns false.
Result<> each_event(Context& context, const std::function<bool(const ledger::Event&)>& take,
                    std::int64_t after = 0);

// Hypotheses that have all the words in a title, a mechanism, a change or a verdict's reason.
Result<std::vector<ledger::HypothesisRow>> search(Context& context, const std::string& words,
                                                  int at_most);

// The hash chain, and whether replaying the events gives the projections.
Result<ledger::VerifyReport> verify(Context& context);

}  // namespace amdahl::app
