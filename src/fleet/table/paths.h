// paths.h: what the name of a file says of the samples in it.
#pragma once

#include <string>
#include <string_view>

namespace amdahl::fleet::table {

// "gpu001.csv" and "gpu001/samples.csv" are of gpu001; empty if nothing in the path is a host.
std::string host_in(std::string_view path);

std::string stem_of(std::string_view path);  // "vc3sl" of "earth/vc3sl.csv.gz".

// "GPU_UTIL-2023-07.csv" and "GPU Utilization-data-2026-11-02.csv" are named after their metric:
// the longest part of a name that is one. Empty if there is none.
std::string_view metric_in_path(std::string_view path);

// "n1/gpu3.csv" and "n1_gpu3.csv" are of one accelerator. Empty: not said.
struct PathPlace {
  std::string host;
  std::string accelerator;
};
PathPlace place_in_path(std::string_view path);

}  // namespace amdahl::fleet::table
