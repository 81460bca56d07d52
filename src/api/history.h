// history.h: what the ledger holds, as JSON.
#pragma once

#include <string>
#include <vector>

#include "app/history.h"
#include "base/json.h"
#include "ledger/event.h"
#include "ledger/ledger.h"

namespace amdahl::api {

Json hypotheses(const app::HypothesisList& list);  // Oldest first, as a log is read.
Json found(const std::vector<ledger::HypothesisRow>& rows);
Json story(const app::Story& story);
Json event(const ledger::Event& event);  // One line of an export.
Json events(const std::vector<ledger::Event>& events);
Json verified(const ledger::VerifyReport& report);
Json reopened(const std::string& hypothesis);

}  // namespace amdahl::api
