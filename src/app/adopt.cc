#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <regex>

#include <fmt/core.h>

#include "app/fleet.h"
#include "app/job_profile.h"
#include "base/text.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

// Flags that people give the settings a hypothesis may touch.
struct KnownFlag {
  std::string_view flag;
  std::string_view knob;
  std::string_view on;  // For switches: what turns it on; "-" for settings with a value.
};

constexpr auto kFlags = std::to_array<KnownFlag>({
    {"--batch", "batch_size", "-"},
    {"--batch-size", "batch_size", "-"},
    {"--batch_size", "batch_size", "-"},
    {"--per-device-eval-batch-size", "batch_size", "-"},
    {"--workers", "loader_workers", "-"},
    {"--num-workers", "loader_workers", "-"},
    {"--num_workers", "loader_workers", "-"},
    {"--dataloader-num-workers", "loader_workers", "-"},
    {"--prefetch", "prefetch_factor", "-"},
    {"--prefetch-factor", "prefetch_factor", "-"},
    {"--pin-memory", "pin_memory", ""},
    {"--persistent-workers", "persistent_workers", ""},
    {"--threads", "threads", "-"},
    {"--num-threads", "threads", "-"},
    {"--log-every", "log_every", "-"},
    {"--log-interval", "log_every", "-"},
    {"--logging-steps", "log_every", "-"},
    {"--metric-every", "metric_every", "-"},
    {"--range-check-every", "range_check_every", "-"},
    {"--checkpoint-every", "checkpoint_every", "-"},
    {"--save-every", "checkpoint_every", "-"},
    {"--save-steps", "checkpoint_every", "-"},
    {"--queue-depth", "queue_depth", "-"},
    {"--cache", "decoded_cache", "{state}/decoded"},
    {"--kernel-cache", "kernel_cache", "{state}/kernels"},
    {"--inference-mode", "inference_mode", ""},
    {"--lazy-imports", "lazy_imports", ""},
    {"--overlap-copies", "overlap_copies", ""},
});

const KnownFlag* known_flag(std::string_view flag) {
  const auto row = std::ranges::find(kFlags, flag, &KnownFlag::flag);
  return row == kFlags.end() ? nullptr : &*row;
}

void add_knob(model::Spec& spec, const KnownFlag& known, std::string value) {
  model::Knob& knob = spec.knobs[std::string(known.knob)];
  if (!knob.arg.empty()) return;  // The first spelling found is the one the job uses.
  knob.name = known.knob;
  knob.arg = known.flag;
  knob.value = std::move(value);
  if (known.on != "-") knob.on = known.on;
}

void knobs_from_command(model::Spec& spec) {
  for (std::size_t i = 0; i < spec.command.size(); ++i) {
    const std::string& word = spec.command[i];
    const auto equals = word.find('=');
    const KnownFlag* known = known_flag(std::string_view(word).substr(0, equals));
    if (!known) continue;
    std::string value;
    if (equals != word.npos) {
      value = word.substr(equals + 1);
    } else if (i + 1 < spec.command.size() && !spec.command[i + 1].starts_with("--")) {
      value = spec.command[i + 1];
    }
    add_knob(spec, *known, value);
  }
}

// add_argument("--batch-size", ..., default=8): settings that the command line leaves alone.
void knobs_from_source(model::Spec& spec, const std::string& source) {
  static const std::regex kArgument(R"(add_argument\(\s*["'](--[a-z_-]+)["']([^\n]*))");
  static const std::regex kDefault(R"(default\s*=\s*["']?([A-Za-z0-9_.]+))");
  for (auto it = std::sregex_iterator(source.begin(), source.end(), kArgument);
       it != std::sregex_iterator(); ++it) {
    const std::string flag = (*it)[1];
    const std::string rest = (*it)[2];
    const KnownFlag* known = known_flag(flag);
    if (!known) continue;
    std::smatch match;
    std::string value;
    if (std::regex_search(rest, match, kDefault) && match[1] != "None" && match[1] != "False") {
      value = match[1];
    }
    add_knob(spec, *known, value);
  }
}

// As it was typed.
std::optional<std::string> script_of(const model::Spec& spec) {
  const auto script = std::ranges::find_if(
      spec.command, [](const std::string& word) { return word.ends_with(".py"); });
  return script == spec.command.end() ? std::nullopt : std::optional(*script);
}

// A patched tree is where a job runs then, so that it must find its script from there; a full path
// is followed into it.
void add_repo(const std::string& script, Draft& draft) {
  namespace fs = std::filesystem;
  const fs::path place = fs::path(draft.spec.workdir) / script;
  const std::string tree = work_tree_of(place.parent_path().string());
  if (tree.empty()) return;
  if (fs::path(script).is_absolute() || work_tree_of(draft.spec.workdir) == tree) {
    draft.spec.repo = tree;
    return;
  }
  draft.notes.push_back(fmt::format(
      "patches cannot be tried on it: run it inside {}, or name its script by the full path",
      tree));
}

bool is_family_name(std::string_view name) {
  if (name.empty() || name.front() == '.' || name.front() == '-' || name.front() == '_') {
    return false;
  }
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("._-").find(c) != std::string_view::npos;
  });
}

}  // namespace

Result<Draft> draft_spec(const model::Usage& usage, const std::string& family) {
  Draft draft;
  model::Spec& spec = draft.spec;
  spec.family = family.empty() ? usage.family : family;
  if (!is_family_name(spec.family)) {
    return bad_input(
        fmt::format("'{}' cannot be a family's name: use a-z, 0-9, '.', '_' and '-'", spec.family));
  }
  if (usage.failed) {
    return bad_input(
        fmt::format("job {} failed ({}); adopt one that ended well", usage.job, usage.ending));
  }
  spec.command = usage.command;
  spec.workdir = usage.workdir;
  spec.accelerators = usage.accelerators;
  const Nanos wall = usage.end - usage.start;
  spec.time_limit = std::max<Nanos>(std::chrono::seconds(60), 10 * wall);
  knobs_from_command(spec);
  if (const auto script = script_of(spec)) {
    const auto source = os::read_file((std::filesystem::path(spec.workdir) / *script).string());
    if (source) knobs_from_source(spec, *source);
    if (source) add_repo(*script, draft);
  }
  if (!usage.work) {
    spec.fixed_work = 1;
    draft.notes.push_back(
        "the job reports no work: each run counts as 1; report it through "
        "AMDAHL_REPORT or give [work] pattern");
  }
  draft.notes.push_back(
      "name what must stay the same: [[outputs]] path or [[quality]] name, or "
      "nothing can be promoted");
  draft.notes.push_back("name what it reads: inputs = [\"data/*\"]");
  return draft;
}

}  // namespace amdahl::app
