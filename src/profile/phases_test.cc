#include "profile/phases.h"

#include <gtest/gtest.h>

namespace amdahl::profile {
namespace {

TEST(Phases, NamesAreReadByTheirWords) {
  const struct {
    const char* name;
    const char* want;
  } cases[] = {
      {"start-up", "startup_share"},
      {"load_model", "startup_share"},
      {"model_init", "startup_share"},
      {"WarmUp", "warmup_share"},
      {"DataLoading", "input_wait_share"},
      {"copy input", "copy_share"},
      {"compute_metrics", "logging_share"},
      {"checkpoint", "checkpoint_share"},
      {"check", "sync_share"},
      {"logits", ""},
      {"all_reduce", "communication_share"},
      {"step#0", "compute_share"},
      {"", ""},
      {"***", ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Kind* kind = kind_of(c.name);
    EXPECT_EQ(kind == nullptr ? "" : kind->share, c.want);
  }
}

}  // namespace
}  // namespace amdahl::profile
