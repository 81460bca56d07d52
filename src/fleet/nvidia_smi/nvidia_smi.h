// nvidia_smi.h: reads `nvidia-smi --query-gpu=timestamp,index,utilization.gpu,... --format=csv`.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::nvidia_smi {

// A header with "timestamp" and "utilization.gpu [%]" (also without units), in any order.
bool claims(std::string_view head);

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

// The output does not say its host; files are named after it: "nvidia-smi_gpu001_2017-10-11.csv.gz"
// and "gpu001/nvidia-smi.csv" speak of gpu001. Empty if nothing in the path can be one.
std::string host_in_path(std::string_view path);

}  // namespace amdahl::fleet::nvidia_smi
