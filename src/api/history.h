// history.h: the contents of the ledger as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/calibration.h"
#include "app/history.h"
#include "app/pair_story.h"
#include "app/store.h"
#include "base/json.h"
#include "base/result.h"

namespace amdahl::api {

Json hypotheses(const app::HypothesisList& list);  // Oldest first.
Json found(const std::vector<ledger::HypothesisRow>& rows);
// What the workers of one pair left.
Result<Json> receipts(app::Context& context, const std::string& id,
                      const std::string& reservation);
Json attacks(const std::vector<app::Attack>& attacks);
Json story(const app::Story& story);
Json pairs(const app::PairStory& story);
Json event(const ledger::Event& event);  // One line of an export.
Json events(const std::vector<ledger::Event>& events);
// By origin, and the chances used for the next idea.
Json calibration(const app::Calibration& calibration);
Json verified(const ledger::VerifyReport& report);
Json copied(const app::CopiedLedger& copy);
Json reopened(const std::string& hypothesis);

// The same read from the ledger, for any door.
Result<Json> hypotheses(app::Context& context, const app::HypothesisFilter& filter);
Result<Json> found(app::Context& context, const std::string& words, int at_most);
Result<Json> story(app::Context& context, const std::string& id);
Result<Json> events(app::Context& context, const std::string& subject, std::int64_t before,
                    int at_most);
Result<Json> verified(app::Context& context);
Result<Json> pairs(app::Context& context, const std::string& id);
Result<Json> reopen(app::Context& context, const std::string& id, const std::string& who,
                    const std::string& reason);

}  // namespace amdahl::api
