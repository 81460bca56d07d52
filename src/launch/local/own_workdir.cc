#include "launch/local/own_workdir.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include <fmt/core.h>

#include "base/hash.h"
#include "os/files.h"
#include "os/program.h"

namespace amdahl::launch::local {
namespace {

namespace fs = std::filesystem;

// Of files, not of what links lead to; no more is counted than `most`.
std::uintmax_t bytes_in(const std::string& folder, std::uintmax_t most) {
  std::uintmax_t bytes = 0;
  std::error_code ignored;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(folder, options, ignored);
       entry != fs::recursive_directory_iterator() && bytes <= most; entry.increment(ignored)) {
    if (entry->is_symlink(ignored) || !entry->is_regular_file(ignored)) continue;
    const std::uintmax_t size = entry->file_size(ignored);
    if (!ignored) bytes += size;
  }
  return bytes;
}

}  // namespace

bool writes_beside_code(const model::Spec& spec) {
  return std::ranges::any_of(spec.outputs, [](const model::Output& output) {
    return !output.path.starts_with('{') && !output.path.starts_with('/');
  });
}

Result<> copy_workdir(const std::string& workdir, const std::string& copy, int most_gib) {
  const std::uintmax_t most = static_cast<std::uintmax_t>(most_gib) << 30;
  if (bytes_in(workdir, most) > most) {
    return bad_input(fmt::format(
        "{} has more than {} GiB, too much to copy for each run of a model's patch: keep data "
        "elsewhere, and let the job write its outputs to {{out}}",
        workdir, most_gib));
  }
  std::error_code ignored;
  fs::remove_all(copy, ignored);
  TRY(os::make_dirs(copy));
  return os::run_program(
      {.argv = {"cp", "-a", "--reflink=auto", "--", workdir + "/.", copy}},
      [](std::string_view) -> Result<> { return Ok{}; }, [] { return false; });
}

std::string results_list_of(const std::string& state_dir, const model::Spec& spec) {
  const std::string whose = sha256_hex(spec.family + "\n" + spec.workdir);
  return fmt::format("{}/results/{}.json", state_dir, whose.substr(0, 16));
}

}  // namespace amdahl::launch::local
