#include "app/agent_door.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include <fmt/core.h>

#include "app/change_key.h"
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
                        "did are frozen",
                        file.path, *word));
      }
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
  if (!file.new_mode.empty() && file.new_mode != "100644" && file.new_mode != "100755") {
    return bad_input(
        fmt::format("{}: mode {} is not that of a plain file", file.path, file.new_mode));
  }
  return check_lines(spec, file);
}

// Variables by which code, files or reports come in: names and beginnings and ends of names.
constexpr auto kLoading = std::to_array<std::string_view>(
    {"BASH_ENV", "ENV", "IFS", "HOME", "NODE_OPTIONS", "RUBYOPT", "JAVA_TOOL_OPTIONS", "SHELL"});
constexpr auto kLoadingStarts = std::to_array<std::string_view>(
    {"LD_", "PYTHON", "PERL5", "GIT_", "AMDAHL_", "DYLD_", "NVTX_INJECTION", "CUDA_INJECTION"});
constexpr auto kLoadingEnds = std::to_array<std::string_view>({"PATH", "PRELOAD", "_FILE"});

bool may_load(const std::string& name) {
  return std::ranges::find(kLoading, name) != kLoading.end() ||
         std::ranges::any_of(kLoadingStarts, [&](auto part) { return name.starts_with(part); }) ||
         std::ranges::any_of(kLoadingEnds, [&](auto part) { return name.ends_with(part); });
}

// A reference is filled in where the job starts, from the environment of the loop.
bool has_reference(const model::Change& change) {
  std::string all;
  for (const auto* values : {&change.env, &change.args}) {
    for (const auto& [name, value] : *values) all += name + "\n" + value.value_or("") + "\n";
  }
  for (const auto* values : {&change.config, &change.inject}) {
    for (const auto& [name, value] : *values) all += name + "\n" + value + "\n";
  }
  return contains(all, "{env:");
}

// From the repo's root; as it is if it is outside.
std::string in_repo(const model::Spec& spec, const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path whole = (fs::path(spec.workdir) / file).lexically_normal();
  const fs::path base = spec.repo.empty() ? fs::path(spec.workdir) : fs::path(spec.repo);
  return whole.lexically_relative(base.lexically_normal()).string();
}

Result<> check_config(const model::Spec& spec, const model::Change& change) {
  for (const auto& [place, value] : change.config) {
    const std::string path = in_repo(spec, place.substr(0, place.find('#')));
    if (path.empty() || path.starts_with("..") || model::is_frozen(spec, path)) {
      return bad_input(
          fmt::format("{}: a model may not set what is frozen or outside of the repo", place));
    }
  }
  return Ok{};
}

bool is_knob(const model::Spec& spec, const std::string& name) {
  return std::ranges::any_of(spec.knobs, [&](const auto& knob) { return knob.second.env == name; });
}

}  // namespace

Result<> check_agents_change(Context& context, const ledger::Family& family,
                             const model::Change& change) {
  for (const auto& [name, value] : change.env) {
    if (may_load(name) && !is_knob(family.spec, name)) {
      return bad_input(fmt::format("{} can load code or files: a model may not set it", name));
    }
  }
  if (has_reference(change)) {
    return bad_input(
        "{env:NAME} is not allowed in a change from a model: it would read a variable of the loop");
  }
  TRY(check_config(family.spec, change));
  if (!change.wrap.empty()) return bad_input("a model may not put another program before the job");
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
    if (is_knob(spec, name) || dream::only_tunes(name)) continue;
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
