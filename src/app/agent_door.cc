#include "app/agent_door.h"

#include <algorithm>

#include <fmt/core.h>

#include "app/agent_settings.h"
#include "app/change_key.h"
#include "base/screen.h"
#include "base/text.h"
#include "dream/settings.h"
#include "model/frozen.h"
#include "model/patch_edits.h"
#include "os/bubblewrap.h"

namespace amdahl::app {
namespace {

constexpr std::size_t kLongestPatch = 64 << 10;

Result<> check_lines(const model::Spec& spec, const model::FileEdit& file) {
  const std::vector<std::string> frozen = model::frozen_words(spec);
  for (const model::LineEdit& edit : file.edits) {
    for (const auto& lines : {edit.removed, edit.added}) {
      for (const std::string& line : lines) {
        const auto word = std::ranges::find_if(
            frozen, [&](const std::string& one) { return contains(line, one); });
        if (word == frozen.end()) continue;
        return bad_input(
            fmt::format("the patch changes a line of {} with '{}': lines that report what the job "
                        "did are frozen, and lines that say which tests there are",
                        file.path, *word));
      }
    }
  }
  return Ok{};
}

// What a person reads at the gate must be what runs: no line may hide itself or others.
Result<> check_shown(const model::FileEdit& file) {
  for (const model::LineEdit& edit : file.edits) {
    for (std::string line : edit.added) {
      std::erase(line, '\t');
      if (line.ends_with('\r')) line.pop_back();
      if (plain(line) == line) continue;
      return bad_input(
          fmt::format("the patch adds a line to {} with characters that change how it is shown: {}",
                      file.path, clip(plain(line), 80)));
    }
  }
  return Ok{};
}

Result<> check_file(const model::Spec& spec, const model::FileEdit& file) {
  TRY(model::may_touch(spec, file.path));
  // "rename x" or "copy x".
  if (!file.from.empty()) TRY(model::may_touch(spec, file.from.substr(file.from.find(' ') + 1)));
  if (!file.binary.empty())
    return bad_input(fmt::format("{}: contains bytes that are not text", file.path));
  for (const std::string& mode : {file.new_mode, file.kept_mode}) {
    if (mode.empty() || mode == "100644" || mode == "100755") continue;
    return bad_input(fmt::format("{}: mode {} is not that of a plain file", file.path, mode));
  }
  TRY(check_shown(file));
  return check_lines(spec, file);
}

}  // namespace

Result<> check_agents_change(Context& context, const ledger::Family& family,
                             const model::Change& change) {
  TRY(check_agents_settings(family.spec, change));
  if (change.patch.empty()) return Ok{};
  if (family.spec.repo.empty()) return bad_input("the spec has no repo for a patch to apply to");
  TRY(check_patch_paths(family.spec, change.patch));
  const auto made = known_effect(context, family, change.patch);
  if (!made) return bad_input("the patch does not apply to the commit that the repo is at");
  // What git makes of its paths decides, not how they are spelled.
  if (!made->diff.empty()) TRY(check_patch_paths(family.spec, made->diff));
  // Elsewhere the worker looks.
  const bool runs_here = context.config.launcher == "local";
  std::string why_not;
  if (context.config.agent_unsandboxed || !runs_here || os::can_jail(&why_not)) return Ok{};
  return bad_input(
      fmt::format("patches of models run in a sandbox only, and that does not work "
                  "here: {}. Install bubblewrap, or set agent.unsandboxed = true",
                  why_not));
}

Result<> check_only_tunes(const model::Spec& spec, const model::Change& change) {
  for (const auto& [name, value] : change.env) {
    if (is_knob_variable(spec, name) || dream::only_tunes(name)) continue;
    return bad_input(
        fmt::format("{} is neither a knob of the spec nor a variable that only tunes", name));
  }
  return Ok{};
}

Result<> check_patch_paths(const model::Spec& spec, const std::string& patch) {
  if (patch.size() > kLongestPatch) {
    return bad_input(
        fmt::format("the patch has {} bytes; {} are allowed", patch.size(), kLongestPatch));
  }
  const std::vector<model::FileEdit> files = model::read_patch(patch);
  if (files.empty()) return bad_input("the patch is not a unified diff");
  for (const model::FileEdit& file : files) TRY(check_file(spec, file));
  return Ok{};
}

}  // namespace amdahl::app
