#include "api/job.h"

#include <nlohmann/json.hpp>

#include "api/document.h"
#include "api/profile.h"
#include "model/codec.h"

namespace amdahl::api {

Json run(const app::RunOutcome& outcome) {
  Json gpus = Json::array();
  for (const profile::GpuUse& use : outcome.gpus) gpus.push_back(gpu(use));
  return document({{"job", outcome.job},
                   {"gpus", gpus},
                   {"receipt", encode(outcome.receipt)},
                   {"usage_file", outcome.usage_file},
                   {"promoted", outcome.canary.changes},
                   {"held_back", outcome.canary.held_back},
                   {"warning", outcome.warning}});
}

Json adopted(const app::Adopted& adopted) {
  return document({{"family", adopted.spec.family},
                   {"file", adopted.path},
                   {"spec", encode(adopted.spec)},
                   {"notes", adopted.notes}});
}

}  // namespace amdahl::api
