#include "launch/local/frozen.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include <fmt/core.h>

#include "base/hash.h"
#include "base/text.h"
#include "model/frozen.h"
#include "model/patch_edits.h"
#include "os/files.h"

namespace amdahl::launch::local {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKeptGitFile = ".gitfile";

// Git in a tree in which a model's build ran: it runs no program that is named there.
std::vector<std::string> git_in(const std::string& tree, std::vector<std::string> words) {
  std::vector<std::string> argv{"git",
                                "-c",
                                "core.fsmonitor=false",
                                "-c",
                                "core.hooksPath=/dev/null",
                                "-c",
                                "submodule.recurse=false",
                                "-C",
                                tree};
  argv.insert(argv.end(), words.begin(), words.end());
  return argv;
}

// All of what the last command printed; its receipt has the end alone.
Result<std::string> printed(const Steps& steps) {
  return os::read_file(steps.out_dir() + "/stdout");
}

// Path to a digest of its lines that report; `commit`: empty for the tree as it lies there.
Result<std::map<std::string, std::string>> reporting(const model::Spec& spec,
                                                     const std::string& tree,
                                                     const std::string& commit, Steps& steps) {
  // As text: attributes that a build wrote could call any file binary.
  std::vector<std::string> argv = git_in(tree, {"grep", "-a", "-F", "--no-color", "--null"});
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

// The file by which git finds the repository. Another one could lead to a repository whose
// settings name programs, and in which the commit is another.
Result<> check_git_file(const std::string& tree) {
  const std::string file = tree + "/.git";
  std::error_code error;
  const bool is_file = fs::is_regular_file(fs::symlink_status(file, error));
  const auto now = is_file ? os::read_file(file) : Result<std::string>("");
  if (now && *now == TRY(os::read_file(tree + kKeptGitFile))) return Ok{};
  return differs(".git", "this file");
}

// Says how tests are run, or how git reads the files beside it.
bool is_about_others(const std::string& name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {".gitattributes", "conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg",
       "noxfile.py", "sitecustomize.py", "usercustomize.py"});
  return std::ranges::find(kNames, name) != kNames.end();
}

// Data beside the code is linked into the checkout, each file to its own place.
bool is_link_to_data(const std::string& tree, const std::string& path) {
  std::error_code ignored;
  const std::string target = fs::read_symlink(fs::path(tree) / path, ignored);
  return target.ends_with("/" + path) && !target.starts_with(tree + "/");
}

// What a build may not add beside files of the commit.
Result<> check_new_files(const std::set<std::string>& approved, const std::string& tree,
                         Steps& steps) {
  TRY(steps.run(git_in(tree, {"ls-files", "--others", "-z"}), tree));
  const std::string listed = TRY(printed(steps));
  std::set<std::string> added;
  for (const std::string_view entry : split(listed, '\0')) {
    const std::string path(entry);
    const bool is_known = approved.contains(path) || is_link_to_data(tree, path);
    if (!is_known && is_about_others(path.substr(path.rfind('/') + 1))) added.insert(path);
  }
  if (added.empty()) return Ok{};
  TRY(steps.run(git_in(tree, {"ls-files", "-z"}), tree));
  const std::string known = TRY(printed(steps));
  for (const std::string_view entry : split(known, '\0')) {
    for (const std::string& path : added) {
      const std::string folder = path.substr(0, path.rfind('/') + 1);  // npos + 1 is 0.
      if (!entry.empty() && entry.starts_with(folder)) {
        return bad_input(fmt::format("{}: the build must not add this file", path));
      }
    }
  }
  return Ok{};
}

}  // namespace

Result<> keep_git_file(const std::string& tree) {
  return os::write_file(tree + kKeptGitFile, TRY(os::read_file(tree + "/.git")));
}

Result<> check_frozen(const model::Spec& spec, const std::string& accepted, const std::string& tree,
                      const std::string& commit, Steps& steps) {
  TRY(check_git_file(tree));
  std::set<std::string> approved;
  for (const model::FileEdit& file : model::read_patch(accepted)) {
    approved.insert({file.path, file.from});
  }
  TRY(check_new_files(approved, tree, steps));
  TRY(steps.run(git_in(tree, {"diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all",
                              "--name-only", "--no-renames", "-z", commit}),
                tree));
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
