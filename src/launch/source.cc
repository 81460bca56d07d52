#include "launch/source.h"

#include <filesystem>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "base/text.h"
#include "os/program.h"

namespace amdahl::launch {
namespace fs = std::filesystem;
namespace {

constexpr Nanos kGitWithin = std::chrono::minutes(1);  // A file system may hang.
constexpr std::size_t kDigits = 12;

std::optional<std::string> git(const std::string& repo, std::vector<std::string> words) {
  words.insert(words.begin(), {"git", "-C", repo});
  std::string said;
  const auto asked = os::run_program(
      {.argv = std::move(words), .limit = kGitWithin},
      [&](std::string_view bytes) -> Result<> {
        said.append(bytes);
        return Ok{};
      },
      [] { return false; });
  if (!asked) return std::nullopt;
  return said;
}

// What the job itself writes into its repo is its result, not its code.
std::vector<std::string> less_outputs(const model::Spec& spec) {
  std::vector<std::string> words;
  const fs::path repo = fs::path(spec.repo).lexically_normal();
  for (const model::Output& output : spec.outputs) {
    if (output.path.find('{') != output.path.npos) continue;
    const fs::path inside =
        (fs::path(spec.workdir) / output.path).lexically_normal().lexically_relative(repo);
    if (inside.empty() || *inside.begin() == "..") continue;
    words.push_back(":(exclude,top,glob)" + inside.string());
  }
  return words;
}

}  // namespace

std::string source_of(const model::Spec& spec) {
  if (spec.repo.empty()) return "";
  const auto tree = git(spec.repo, {"rev-parse", "HEAD^{tree}"});
  if (!tree) return "";
  std::vector<std::string> words{"diff", "HEAD", "--no-ext-diff", "--no-textconv", "--binary",
                                 "--",   ":/"};
  for (std::string& less : less_outputs(spec)) words.push_back(std::move(less));
  const auto changed = git(spec.repo, std::move(words));
  if (!changed) return "";
  const std::string head = std::string(trim(*tree)).substr(0, kDigits);
  return changed->empty() ? head : head + "+" + sha256_hex(*changed).substr(0, kDigits);
}

}  // namespace amdahl::launch
