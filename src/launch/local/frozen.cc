#include "launch/local/frozen.h"

#include <map>
#include <set>

#include <fmt/core.h>

#include "base/hash.h"
#include "base/text.h"
#include "model/frozen.h"
#include "model/patch_edits.h"
#include "os/files.h"

namespace amdahl::launch::local {
namespace {

// All of what the last command printed; its receipt has the end alone.
Result<std::string> printed(const Steps& steps) {
  return os::read_file(steps.out_dir() + "/stdout");
}

// Path to a digest of its lines that report; `commit`: empty for the tree as it lies there.
Result<std::map<std::string, std::string>> reporting(const model::Spec& spec,
                                                     const std::string& tree,
                                                     const std::string& commit, Steps& steps) {
  std::vector<std::string> argv{"git", "-C", tree, "grep", "-I", "-F", "--no-color", "--null"};
  for (const std::string& word : model::frozen_words(spec)) argv.insert(argv.end(), {"-e", word});
  if (!commit.empty()) argv.push_back(commit);
  // It fails if nothing is found.
  const auto found = steps.run(argv, tree);
  const std::string text = found ? TRY(printed(steps)) : "";
  std::map<std::string, std::string> lines;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t end = line.find('\0');
    if (end == line.npos) continue;
    std::string path(line.substr(0, end));
    if (!commit.empty()) path = path.substr(commit.size() + 1);  // "COMMIT:path".
    lines[path] += std::string(line.substr(end + 1)) + "\n";
  }
  for (auto& [path, content] : lines) content = sha256_hex(content);
  return lines;
}

Error differs(const std::string& path, std::string_view what) {
  return bad_input(fmt::format("{}: {} must not differ from the commit", path, what));
}

}  // namespace

Result<> check_frozen(const model::Spec& spec, const std::string& accepted, const std::string& tree,
                      const std::string& commit, Steps& steps) {
  std::set<std::string> approved;
  for (const model::FileEdit& file : model::read_patch(accepted)) {
    approved.insert({file.path, file.from});
  }
  TRY(steps.run({"git", "-C", tree, "diff", "--name-only", "--no-renames", "-z", commit}, tree));
  const std::string changed = TRY(printed(steps));
  for (const std::string_view entry : split(changed, '\0')) {
    const std::string path(entry);
    if (!path.empty() && !approved.contains(path) && model::is_frozen(spec, path)) {
      return differs(path, "this file");
    }
  }
  const auto before = TRY(reporting(spec, tree, commit, steps));
  const auto after = TRY(reporting(spec, tree, "", steps));
  for (const auto& [path, digest] : before) {
    const auto now = after.find(path);
    const bool same = now != after.end() && now->second == digest;
    if (!same && !approved.contains(path))
      return differs(path, "lines that report what the job did");
  }
  for (const auto& [path, digest] : after) {
    if (!before.contains(path) && !approved.contains(path)) {
      return differs(path, "lines that report what the job did");
    }
  }
  return Ok{};
}

}  // namespace amdahl::launch::local
