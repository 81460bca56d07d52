#include "base/check.h"
#include "ledger/ledger.h"

namespace amdahl::ledger {

std::string_view name(RunState state) {
  switch (state) {
    case RunState::kReserved:
      return "reserved";
    case RunState::kSubmitted:
      return "submitted";
    case RunState::kCollected:
      return "collected";
    case RunState::kVoid:
      return "void";
  }
  CHECK(false);
}

}  // namespace amdahl::ledger
