#include "launch/conformance.h"

#include <fmt/format.h>

#include "launch/local/testing.h"

namespace amdahl::launch::local {
namespace {

TEST_F(LocalTest, Conforms) {
  const Trial trial{[&] { return make(path("state")); }, path("scratch"), std::chrono::seconds(60),
                    std::chrono::milliseconds(300)};
  for (const Breach& breach : conformance(trial)) {
    ADD_FAILURE() << breach.rule << ": " << breach.what;
  }
}

}  // namespace
}  // namespace amdahl::launch::local
