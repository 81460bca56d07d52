// tree_steps.h: the commands that make a patched tree, and what they cost.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "os/bubblewrap.h"

namespace amdahl::launch::local {

// Commands in a row, and what CPU time they took.
class Steps {
 public:
  // `jail`: for the commands that run_in_tree() starts; nothing: none.
  explicit Steps(std::string out_dir, std::optional<os::Jail> jail = std::nullopt)
      : out_dir_{std::move(out_dir)}, jail_{std::move(jail)} {}

  // What the command printed; an error with the end of its complaints if it failed.
  Result<std::string> run(const std::vector<std::string>& argv, const std::string& workdir);
  // The same for a command of the spec, with these variables: in the jail it may write to the tree
  // alone.
  Result<std::string> run_in_tree(const std::vector<std::string>& argv, const std::string& tree,
                                  const std::map<std::string, std::string>& env);

  // The same, in the jail in a copy of the tree: nothing of what it leaves is there when the job
  // runs.
  Result<std::string> try_in_tree(const std::vector<std::string>& argv, const std::string& tree,
                                  const std::map<std::string, std::string>& env);

  const std::string& out_dir() const { return out_dir_; }
  Nanos cpu() const { return cpu_; }

 private:
  Result<std::string> run(const std::vector<std::string>& argv, const std::string& workdir,
                          const std::map<std::string, std::string>& env,
                          std::optional<os::Jail> jail, const std::string& own_workdir = "");

  std::string out_dir_;
  std::optional<os::Jail> jail_;
  Nanos cpu_{};
};

}  // namespace amdahl::launch::local
