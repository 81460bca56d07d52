#include "profile/cause_kinds.h"

#include <set>

#include <gtest/gtest.h>

namespace amdahl::profile {
namespace {

TEST(CauseKinds, IdsAndNamesAreEachOfOneKind) {
  std::set<std::string_view> ids;
  std::set<std::string_view> names;
  for (const CauseKind& kind : cause_kinds()) {
    EXPECT_TRUE(ids.insert(kind.id).second) << kind.id;
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
  }
}

TEST(CauseKinds, ACauseThatWasRecordedWithoutAnIdGetsIt) {
  const struct {
    const char* name;
    const char* want;
  } cases[] = {
      {"start-up", "lifecycle.startup"},
      {"imports, checkpoints", "lifecycle.imports"},
      {"range check in the code", "code.range-check"},
      {"what nobody ever named", ""},
  };
  for (const auto& c : cases) {
    model::Cause cause;
    cause.name = c.name;
    add_missing_id(cause);
    EXPECT_EQ(cause.id, c.want) << c.name;
  }
}

}  // namespace
}  // namespace amdahl::profile
