// request.h: how many GPUs an LSF job asked for, and on which hosts it ran.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace amdahl::fleet::lsf {

struct GpuRequest {
  double count = 0;  // Of each host, or of each task.
  bool each_task = false;
  std::string kind{};  // gmodel; empty: any.
};

// "num=2:mode=shared:gmodel=NVIDIAA100", "num=1/task", or "rusage[mem=4,ngpus_physical=2.00]". Of
// text that is neither, none.
GpuRequest gpu_request(std::string_view text);

// "8*node1", "node1": hosts once each, and how many slots in all.
struct Slots {
  std::vector<std::string> hosts{};
  double count = 0;

  void add(std::string_view place);
};

double gpus_of(const GpuRequest& request, const Slots& slots);

}  // namespace amdahl::fleet::lsf
