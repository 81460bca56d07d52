// tres.h: parses number and kind of accelerators from Slurm's resource lists.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::fleet::slurm {

struct Devices {
  double count = 0;       // A MIG slice (gres/gpu:1g.10gb) counts as its share of a device.
  std::string_view kind;  // The most frequent type; empty if none.
  double shards = 0;      // gres/shard: shares of accelerators of unknown size.
  bool is_bad = false;    // A count could not be read.
};

// "billing=8,cpu=6,gres/gpu:a100=1,gres/gpu=1,mem=48G" of AllocTRES, ReqTRES and CfgTRES. Devices
// listed with and without their type count once; several types add up. gres/mps counts hundredths
// of a device, Slurm's default.
Devices devices_of_tres(std::string_view tres);

// The same with a small cache: the jobs of a fleet use few different lists.
class TresMemory {
 public:
  Devices devices_of(std::string_view tres);

 private:
  struct Known {
    std::string tres;
    Devices devices;          // Except the kind:
    std::size_t kind_at = 0;  // Offset of the kind in the list.
    std::size_t kind_size = 0;
  };
  std::array<Known, 64> known_{};
};

// "gpu:a100:4(S:0-1),gpu:v100:2" of AllocGRES, Gres and GRES; also "gpu:2", "gres/gpu:a100:4".
struct Gres {
  std::string_view kind;
  int count = 0;
  std::string_view indices;  // From "(IDX:0-3)"; empty if missing.
};
std::vector<Gres> accelerators_of_gres(std::string_view gres);
// Also "gpu:a100:4,shard:16": devices, and the number of shares.
Devices devices_of_gres(std::string_view gres);

}  // namespace amdahl::fleet::slurm
