// paths.h: what a file name says about the samples in it.
#pragma once

#include <string>
#include <string_view>

namespace amdahl::fleet::table {

// "gpu001.csv" and "gpu001/samples.csv" belong to gpu001; empty if the path contains no host.
std::string host_in(std::string_view path);

std::string stem_of(std::string_view path);  // "vc3sl" of "earth/vc3sl.csv.gz".

// "GPU_UTIL-2023-07.csv" and "GPU Utilization-data-2026-11-02.csv" are named after their metric:
// the longest part that is a metric name. Empty if none.
std::string_view metric_in_path(std::string_view path);

// "n1/gpu3.csv" and "n1_gpu3.csv" belong to one accelerator. Empty: unknown.
struct PathPlace {
  std::string host;
  std::string accelerator;
};
PathPlace place_in_path(std::string_view path);

}  // namespace amdahl::fleet::table
