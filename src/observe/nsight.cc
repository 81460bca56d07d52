#include "observe/nsight.h"

#include <fmt/core.h>

#include "base/text.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::observe {
namespace {

Result<> need(const char* tool, const char* product) {
  if (os::can_use(tool)) return Ok{};
  return Error{Error::Kind::kUnsupported,
               fmt::format("{} is not on PATH; install {} (developer.nvidia.com), or remove --{}",
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

std::string trouble_of(const Nsight& tool) {
  constexpr std::size_t kHead = std::size_t{64} << 10U;
  const std::string& name = tool.argv.front();
  const auto head = os::read_head(tool.output, kHead);
  if (!head || head->empty()) {
    return fmt::format("{}: it wrote no {}; see its messages in the job's output", name,
                       tool.output);
  }
  if (name != "ncu" || head->find("\"Kernel Name\"") != std::string::npos) return "";
  std::string said = "no kernel was profiled";
  for (const std::string_view line : split(*head, '\n')) {
    for (const std::string_view mark : {"==ERROR== ", "==WARNING== "}) {
      if (line.starts_with(mark)) said = trim(line.substr(mark.size()));
    }
    if (line.starts_with("==ERROR== ")) break;
  }
  return fmt::format("ncu: {}", said);
}

}  // namespace amdahl::observe
