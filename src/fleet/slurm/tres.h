// tres.h: how many accelerators of which kind a Slurm list of resources means.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::fleet::slurm {

struct Devices {
  double count = 0;       // A MIG slice (gres/gpu:1g.10gb) is its share of a device.
  std::string_view kind;  // The type with most of them; empty if none is named.
  double shards = 0;      // gres/shard: parts of accelerators, of how many parts is not said.
  bool is_bad = false;    // There is a count of them that cannot be read.
};

// "billing=8,cpu=6,gres/gpu:a100=1,gres/gpu=1,mem=48G" of AllocTRES, ReqTRES and CfgTRES. The same
// devices stand there with and without their type: they are counted once; several types add up.
// gres/mps counts hundredths of a device, as Slurm's default makes it.
Devices devices_of_tres(std::string_view tres);

// The same, with those lists remembered that came lately: a fleet's jobs ask for few different
// ones.
class TresMemory {
 public:
  Devices devices_of(std::string_view tres);

 private:
  struct Known {
    std::string tres;
    Devices devices;          // But for the kind:
    std::size_t kind_at = 0;  // Where it stands in the list.
    std::size_t kind_size = 0;
  };
  std::array<Known, 64> known_{};
};

// "gpu:a100:4(S:0-1),gpu:v100:2" of AllocGRES, Gres and GRES; also "gpu:2", "gres/gpu:a100:4".
struct Gres {
  std::string_view kind;
  int count = 0;
  std::string_view indices;  // Of "(IDX:0-3)"; empty if not said.
};
std::vector<Gres> accelerators_of_gres(std::string_view gres);
// Also "gpu:a100:4,shard:16": devices, and in how many parts they are shared out.
Devices devices_of_gres(std::string_view gres);

}  // namespace amdahl::fleet::slurm
