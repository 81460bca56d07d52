#include "observe/nsight.h"

#include <fmt/format.h>

#include "os/host.h"

namespace amdahl::observe {
namespace {

Result<> need(const char* tool, const char* product) {
  if (os::can_use(tool)) return Ok{};
  return Error{Error::Kind::kUnsupported,
               fmt::format("{} is not on PATH; it comes with {} (developer.nvidia.com), or leave "
                           "out --{}",
                           tool, product, tool)};
}

std::vector<std::string> before(std::vector<std::string> tool,
                                const std::vector<std::string>& command) {
  tool.insert(tool.end(), command.begin(), command.end());
  return tool;
}

}  // namespace

Result<Nsight> in_nsys(const std::vector<std::string>& command, const std::string& folder) {
  TRY(need("nsys", "Nsight Systems"));
  // Sampling and context switches cost the job time, and our own collector sees them.
  return Nsight{
      before({"nsys", "profile", "--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none",
              "--force-overwrite=true", "--export=sqlite", "--output=" + folder + "/nsys"},
             command),
      folder + "/nsys.sqlite"};
}

Result<Nsight> in_ncu(const std::vector<std::string>& command, const std::string& folder,
                      int launches) {
  TRY(need("ncu", "Nsight Compute"));
  return Nsight{
      before({"ncu", "--csv", "--page=details", "--print-units=base", "--target-processes=all",
              fmt::format("--launch-count={}", launches), "--log-file=" + folder + "/ncu.csv"},
             command),
      folder + "/ncu.csv"};
}

}  // namespace amdahl::observe
