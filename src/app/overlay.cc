#include "app/overlay.h"

#include <filesystem>
#include <map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/production.h"
#include "base/json.h"
#include "ledger/ledger.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

std::string toml_text(const std::string& text) { return dump_json(Json(text)); }

std::string overlay_toml(const ledger::Family& family) {
  const model::Change& change = family.baseline;
  std::string text = fmt::format(
      "# The promoted changes of {}, together. Written by `amdahl gate approve`; the ledger is the "
      "truth.\nfamily = {}\nstack = [",
      family.name, toml_text(family.name));
  for (const std::string& id : family.stack) {
    text += fmt::format("{}{}", &id == family.stack.data() ? "" : ", ", toml_text(id));
  }
  text += "]\n";
  if (change.accelerators) text += fmt::format("accelerators = {}\n", *change.accelerators);
  if (!change.wrap.empty()) text += fmt::format("wrap = {}\n", dump_json(Json(change.wrap)));
  std::string unset;
  text += "\n[env]\n";
  for (const auto& [name, value] : change.env) {
    if (value) text += fmt::format("{} = {}\n", toml_text(name), toml_text(*value));
    if (!value) unset += fmt::format("{}{}", unset.empty() ? "" : ", ", toml_text(name));
  }
  text += fmt::format("\n[args]\n");
  std::string removed;
  for (const auto& [flag, value] : change.args) {
    if (value) text += fmt::format("{} = {}\n", toml_text(flag), toml_text(*value));
    if (!value) removed += fmt::format("{}{}", removed.empty() ? "" : ", ", toml_text(flag));
  }
  text += "\n[config]\n";
  for (const auto& [place, value] : change.config) {
    text += fmt::format("{} = {}\n", toml_text(place), toml_text(value));
  }
  if (!change.inject.empty()) text += "\n[inject]\n";
  for (const auto& [fix, value] : change.inject) {
    text += fmt::format("{} = {}\n", toml_text(fix), toml_text(value));
  }
  text += fmt::format("\n[removed]\nenv = [{}]\nargs = [{}]\n", unset, removed);
  return text;
}

Result<> write_if_other(const std::string& path, const std::string& text) {
  const auto present = os::read_file(path);
  if (present && *present == text) return Ok{};
  return os::write_file(path, text);
}

// The stack's patches by file name.
Result<std::map<std::string, std::string>> patches_of(Context& context,
                                                      const ledger::Family& family) {
  std::map<std::string, std::string> patches;
  int number = 0;
  for (const std::string& id : family.stack) {
    ++number;
    std::string patch = TRY(context.ledger->hypothesis(id)).hypothesis.change.patch;
    if (!patch.empty()) patches[fmt::format("{:02}-{}.patch", number, id)] = std::move(patch);
  }
  return patches;
}

Result<> write_patches(Context& context, const ledger::Family& family) {
  const auto patches = TRY(patches_of(context, family));
  const std::string folder = context.path(fmt::format("overlays/{}", family.name));
  for (const std::string& name : os::list(folder)) {
    if (!name.ends_with(".patch") || patches.contains(name)) continue;
    std::error_code failed;
    std::filesystem::remove(folder + "/" + name, failed);
    if (failed) return external(fmt::format("{}/{}: {}", folder, name, failed.message()));
  }
  if (patches.empty()) return Ok{};
  TRY(os::make_dirs(folder));
  for (const auto& [name, patch] : patches) TRY(write_if_other(folder + "/" + name, patch));
  return Ok{};
}

}  // namespace

Result<std::string> write_overlay(Context& context, const std::string& name) {
  const std::string path = context.path(fmt::format("overlays/{}.toml", name));
  ledger::Family family = TRY(need_family(context, name));
  if (family.stack.empty() && !os::exists(path)) return path;
  TRY(os::make_dirs(context.path("overlays")));
  while (true) {
    TRY(write_if_other(path, overlay_toml(family)));
    const Production production = TRY(production_of(*context.ledger, family));
    TRY(write_if_other(context.path(fmt::format("overlays/{}.json", name)),
                       production_json(production) + "\n"));
    TRY(write_patches(context, family));
    // Whoever decided meanwhile may have written before us: the last look is the ledger's.
    ledger::Family now = TRY(need_family(context, name));
    if (now.version == family.version) return path;
    family = std::move(now);
  }
}

}  // namespace amdahl::app
