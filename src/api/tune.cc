#include "api/tune.h"

#include <nlohmann/json.hpp>

#include "api/document.h"
#include "model/codec.h"

namespace amdahl::api {

Json tuned(const app::TuneOutcome& outcome) {
  Json won = Json::array();
  for (const app::TunedChange& change : outcome.won) {
    won.push_back({{"hypothesis", change.hypothesis.id},
                   {"title", change.hypothesis.title},
                   {"change", encode(change.hypothesis.change)},
                   {"comparison", encode(change.comparison)},
                   {"commit", change.commit},
                   {"patch", change.patch},
                   {"patch_test", change.patch_test}});
  }
  Json tried = Json::array();
  for (const app::TriedChange& change : outcome.tried) {
    tried.push_back({{"hypothesis", change.id},
                     {"title", change.title},
                     {"verdict", change.verdict},
                     {"because", change.because}});
  }
  Json inferred = Json::array();
  for (const app::Inferred& fact : outcome.inferred) {
    inferred.push_back({{"field", fact.field},
                        {"value", fact.value},
                        {"because", fact.because},
                        {"confidence", fact.confidence}});
  }
  return document(
      {{"family", outcome.family},
       {"spec", outcome.spec_path},
       {"inferred", inferred},
       {"stack", outcome.stack ? encode(*outcome.stack) : Json()},
       {"won", won},
       {"tried", tried},
       {"untested", outcome.untested},
       {"leading", outcome.leading},
       {"failing", outcome.failing},
       {"first_win_s", outcome.first_win ? Json(to_seconds(*outcome.first_win)) : Json()},
       {"folder", outcome.folder},
       {"files", outcome.files},
       {"command", outcome.command},
       {"ceiling", outcome.ceiling},
       {"stopped_because", outcome.cycle.stopped_because}});
}

}  // namespace amdahl::api
