// names.h: reads what nvidia-smi says its GPUs are called: -L, -q, and --query-gpu=index,uuid.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::nvidia_smi {

// "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-…)", with MIG devices below their GPU; the log of -q;
// a table with uuid and index (or pci.bus_id) that says nothing of usage over time.
bool claims_names(std::string_view head);

// Tells devices only: one look at a GPU says nothing of how it was used. The host is that of the
// options; what the path names is only likely.
std::unique_ptr<Reader> make_names(Intake& intake, const ReaderOptions& options);

}  // namespace amdahl::fleet::nvidia_smi
