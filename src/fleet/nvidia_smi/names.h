// names.h: reads the names of GPUs from nvidia-smi: -L, -q, and --query-gpu=index,uuid.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::nvidia_smi {

// "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-…)" with MIG devices below their GPU; the log of -q; or
// a table with uuid and index (or pci.bus_id) without usage over time.
bool claims_names(std::string_view head);

// Reports devices only, not usage. The host is taken from the options; one from the path is only
// likely.
std::unique_ptr<Reader> make_names(Intake& intake, const ReaderOptions& options);

}  // namespace amdahl::fleet::nvidia_smi
