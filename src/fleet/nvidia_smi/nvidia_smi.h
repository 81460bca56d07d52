// nvidia_smi.h: reads what nvidia-smi prints of GPUs: their usage over time, or their names.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::nvidia_smi {

// A header of --query-gpu with "timestamp" and "utilization.gpu [%]" (also without units), in any
// order; or names (names.h).
bool claims(std::string_view head);
bool claims_samples(std::string_view head);  // The first alone.
Explained explain(std::string_view head, const ReaderOptions& options);

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

// "utilization.gpu [%]" is utilization.gpu; older versions called columns gpu_uuid, gpu_name.
std::string_view plain_column(std::string_view column);

// The output does not say its host; files are named after it: "nvidia-smi_gpu001_2017-10-11.csv.gz"
// and "gpu001/nvidia-smi.csv" speak of gpu001. Empty if nothing in the path can be one.
std::string host_in_path(std::string_view path);

}  // namespace amdahl::fleet::nvidia_smi
