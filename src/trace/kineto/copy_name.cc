#include "trace/kineto/copy_name.h"

#include <array>

namespace amdahl::trace::kineto {
namespace {

using model::CopyKind;
using model::HostMemory;

template <class Kind>
struct Word {
  std::string_view word;
  Kind kind;
};

constexpr auto kKinds = std::to_array<Word<CopyKind>>({
    {"HtoD", CopyKind::kHostToDevice},
    {"DtoH", CopyKind::kDeviceToHost},
    {"DtoD", CopyKind::kDeviceToDevice},
    {"PtoP", CopyKind::kPeerToPeer},
    {"HtoH", CopyKind::kHostToHost},
    {"HostToDevice", CopyKind::kHostToDevice},
    {"DeviceToHost", CopyKind::kDeviceToHost},
    {"DeviceToDevice", CopyKind::kDeviceToDevice},
});

constexpr auto kMemories = std::to_array<Word<HostMemory>>({
    {"Pageable", HostMemory::kPageable},
    {"Pinned", HostMemory::kPinned},
    {"Managed", HostMemory::kManaged},
});

template <class Rows, class Kind>
void find(const Rows& rows, std::string_view name, Kind& kind) {
  for (const auto& row : rows) {
    if (name.find(row.word) == std::string_view::npos) continue;
    kind = row.kind;
    return;
  }
}

}  // namespace

CopyName read_copy_name(std::string_view name) {
  CopyName copy;
  find(kKinds, name, copy.kind);
  find(kMemories, name, copy.memory);
  return copy;
}

}  // namespace amdahl::trace::kineto
