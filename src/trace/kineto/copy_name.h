// copy_name.h: direction of a copy, from its name.
#pragma once

#include <string_view>

#include "model/trace.h"

namespace amdahl::trace::kineto {

struct CopyName {
  model::CopyKind kind = model::CopyKind::kUnknown;
  model::HostMemory memory = model::HostMemory::kUnknown;
};

// "Memcpy HtoD (Pageable -> Device)", "CopyHostToDevice".
CopyName read_copy_name(std::string_view name);

}  // namespace amdahl::trace::kineto
