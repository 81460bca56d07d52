#include "profile/cause_kinds.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace amdahl::profile {
namespace {

constexpr auto kAllKinds = std::to_array<CauseKind>({
    causes::kCheckpoint,
    causes::kWarmup,
    causes::kImports,
    causes::kStartup,
    causes::kTeardown,
    causes::kLoading,
    causes::kInputWait,
    causes::kCopiesIn,
    causes::kExposedCopies,
    causes::kCollectives,
    causes::kExposedCollectives,
    causes::kStragglers,
    causes::kOtherRanks,
    causes::kNetwork,
    causes::kLogging,
    causes::kSync,
    causes::kDeviceWait,
    causes::kDriverWait,
    causes::kWrittenFiles,
    causes::kHostWork,
    causes::kIdleDevices,
    causes::kLaunching,
    causes::kGc,
    causes::kSleeping,
    causes::kOtherThread,
    causes::kProcesses,
    causes::kCpuWait,
    causes::kOwnQuota,
    causes::kOwnThreads,
    causes::kOtherWork,
    causes::kSteal,
    causes::kWokenThreads,
    causes::kSpare,
    causes::kKernel,
    causes::kCompute,
    causes::kQueued,
    causes::kProfiler,
    causes::kUnexplained,
});

}  // namespace

std::span<const CauseKind> cause_kinds() { return kAllKinds; }

void add_missing_id(model::Cause& cause) {
  if (!cause.id.empty()) return;
  constexpr std::string_view kOfLine = " in the code";
  if (cause.name.ends_with(kOfLine)) {
    std::string rule = cause.name.substr(0, cause.name.size() - kOfLine.size());
    std::ranges::replace(rule, ' ', '-');
    cause.id = std::string(kInCode) + rule;
    return;
  }
  const std::string_view first = split(cause.name, ',').front();
  const auto kind = std::ranges::find(kAllKinds, first, &CauseKind::name);
  if (kind != kAllKinds.end()) cause.id = kind->id;
}

}  // namespace amdahl::profile
