// nvidia_smi.h: reads nvidia-smi output: usage over time, or names of GPUs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::nvidia_smi {

// A header of --query-gpu with "timestamp" and "utilization.gpu [%]" (units optional), in any
// order; or names (names.h).
bool claims(std::string_view head);
bool claims_samples(std::string_view head);  // Only the former.
Explained explain(std::string_view head, const ReaderOptions& options);

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

// "utilization.gpu [%]" becomes utilization.gpu; older versions used gpu_uuid and gpu_name.
std::string_view plain_column(std::string_view column);

// The output does not name its host, but file names often do:
// "nvidia-smi_gpu001_2017-10-11.csv.gz" and "gpu001/nvidia-smi.csv" belong to gpu001. Empty if
// nothing in the path looks like a host.
std::string host_in_path(std::string_view path);

}  // namespace amdahl::fleet::nvidia_smi
