#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include <fmt/core.h>

#include "app/builds.h"
#include "app/fleet.h"
#include "app/job_profile.h"
#include "base/text.h"
#include "code/options.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

// What people call the settings that a hypothesis may touch: in small letters, words apart by "_",
// without the part before a dot.
struct KnownName {
  std::string_view name;
  std::string_view knob;
  std::string_view on;  // For switches: what turns it on; "-" for settings with a value.
};

constexpr auto kKnownNames = std::to_array<KnownName>({
    {"batch", "batch_size", "-"},
    {"batch_size", "batch_size", "-"},
    {"micro_batch_size", "batch_size", "-"},
    {"mini_batch_size", "batch_size", "-"},
    {"per_device_train_batch_size", "batch_size", "-"},
    {"per_device_eval_batch_size", "batch_size", "-"},
    {"workers", "loader_workers", "-"},
    {"num_workers", "loader_workers", "-"},
    {"n_workers", "loader_workers", "-"},
    {"loader_workers", "loader_workers", "-"},
    {"data_workers", "loader_workers", "-"},
    {"dataloader_num_workers", "loader_workers", "-"},
    {"prefetch", "prefetch_factor", "-"},
    {"prefetch_factor", "prefetch_factor", "-"},
    {"pin_memory", "pin_memory", ""},
    {"persistent_workers", "persistent_workers", ""},
    {"threads", "threads", "-"},
    {"num_threads", "threads", "-"},
    {"nthreads", "threads", "-"},
    {"n_threads", "threads", "-"},
    {"log_every", "log_every", "-"},
    {"log_interval", "log_every", "-"},
    {"log_freq", "log_every", "-"},
    {"print_freq", "log_every", "-"},
    {"logging_steps", "log_every", "-"},
    {"metric_every", "metric_every", "-"},
    {"range_check_every", "range_check_every", "-"},
    {"checkpoint_every", "checkpoint_every", "-"},
    {"save_every", "checkpoint_every", "-"},
    {"save_steps", "checkpoint_every", "-"},
    {"save_interval", "checkpoint_every", "-"},
    {"eval_interval", "validation_every", "-"},
    {"eval_every", "validation_every", "-"},
    {"test_freq", "validation_every", "-"},
    {"queue_depth", "queue_depth", "-"},
    {"cache", "decoded_cache", "{state}/decoded"},
    {"kernel_cache", "kernel_cache", "{state}/kernels"},
    {"inference_mode", "inference_mode", ""},
    {"lazy_imports", "lazy_imports", ""},
    {"overlap_copies", "overlap_copies", ""},
    {"compile", "compile", ""},
    {"dtype", "precision", "-"},
    {"precision", "precision", "-"},
});

const KnownName* known_name(std::string_view flag) {
  const std::size_t letters = flag.find_first_not_of('-');
  if (letters == flag.npos) return nullptr;
  std::string name = lower(flag.substr(letters));
  name.erase(0, name.rfind('.') + 1);
  std::ranges::replace(name, '-', '_');
  const auto row = std::ranges::find(kKnownNames, name, &KnownName::name);
  return row == kKnownNames.end() ? nullptr : &*row;
}

// The first spelling found is the one the job uses. Null if there is one already.
model::Knob* add_knob(model::Spec& spec, const KnownName& known, const std::string& flag,
                      std::string value) {
  model::Knob& knob = spec.knobs[std::string(known.knob)];
  if (!knob.arg.empty()) return knob.arg == flag ? &knob : nullptr;
  knob.name = known.knob;
  knob.arg = flag;
  knob.value = std::move(value);
  if (known.on != "-") knob.on = known.on;
  return &knob;
}

void knobs_from_command(model::Spec& spec) {
  for (std::size_t i = 1; i < spec.command.size(); ++i) {
    const std::string& word = spec.command[i];
    const auto equals = word.find('=');
    const std::string flag = word.substr(0, equals);
    // Without dashes it is an override in one word, as Hydra reads them.
    if (!flag.starts_with("--") && equals == word.npos) continue;
    const KnownName* known = known_name(flag);
    if (!known) continue;
    std::string value;
    if (equals != word.npos) {
      value = word.substr(equals + 1);
    } else if (i + 1 < spec.command.size() && !spec.command[i + 1].starts_with("--")) {
      value = spec.command[i + 1];
    }
    add_knob(spec, *known, flag, value);
  }
}

// Settings that the program's parser takes and the command line leaves alone, and what they take.
void knobs_from_source(model::Spec& spec, const std::string& source) {
  const auto options = code::options_of(source);
  if (!options) return;
  for (const code::ProgramOption& option : *options) {
    const auto longest = std::ranges::max_element(
        option.names, {}, [](const std::string& name) { return name.size(); });
    const KnownName* known = known_name(*longest);
    if (!known) continue;
    const std::string value = option.fallback.value_or("");
    model::Knob* knob = add_knob(spec, *known, *longest, value == "False" ? "" : value);
    if (!knob) continue;
    knob->choices = option.choices;
    for (const std::string& name : option.names) {
      if (name != *longest) knob->aliases.push_back(name);
    }
  }
}

// Choices for a precision setting without choices in the parser: the number formats that appear in
// quotes in the program.
void formats_from_source(model::Spec& spec, const std::string& source) {
  const auto knob = spec.knobs.find("precision");
  if (knob == spec.knobs.end() || !knob->second.choices.empty()) return;
  for (const std::string_view format :
       {"float32", "fp32", "bfloat16", "bf16", "float16", "fp16", "tf32", "half"}) {
    const bool is_quoted = source.find(fmt::format("'{}'", format)) != source.npos ||
                           source.find(fmt::format("\"{}\"", format)) != source.npos;
    if (is_quoted) knob->second.choices.emplace_back(format);
  }
}

// Classifies what a change of each knob does to the results. Work and quality are read from the
// job's output, so a knob that changes the printed lines is semantic.
void classify_knobs(model::Spec& spec, bool trains) {
  constexpr auto kSemantic = std::to_array<std::string_view>(
      {"log_every", "metric_every", "validation_every", "checkpoint_every", "range_check_every"});
  constexpr auto kTolerant = std::to_array<std::string_view>({"precision", "compile", "threads"});
  for (auto& [name, knob] : spec.knobs) {
    const bool is_batch = name == "batch_size";
    if ((is_batch && trains) || std::ranges::find(kSemantic, name) != kSemantic.end()) {
      knob.effect = "semantic";
    } else {
      const bool rounds = is_batch || std::ranges::find(kTolerant, name) != kTolerant.end();
      knob.effect = rounds ? "tolerant" : "exact";
    }
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
  if (tree.empty()) {
    if (fs::path(script).is_absolute()) return;  // More often a tool than somebody's own program.
    const std::string folder = shell_quote({{place.parent_path().string()}});
    draft.no_patches = fmt::format(
        "patches cannot be tried on it, because it is in no git checkout; type: git -C {0} init && "
        "git -C {0} add -A && git -C {0} commit -m start",
        folder);
    return;
  }
  if (fs::path(script).is_absolute() || work_tree_of(draft.spec.workdir) == tree) {
    draft.spec.repo = tree;
    return;
  }
  draft.no_patches = fmt::format(
      "patches cannot be tried on it: run it inside {}, or name its script by the full path", tree);
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

std::map<std::string, std::string> take_environment(std::vector<std::string>& command) {
  std::map<std::string, std::string> set;
  if (command.empty() || (command[0] != "env" && !command[0].ends_with("/env"))) return set;
  std::size_t program = 1;
  for (; program < command.size(); ++program) {
    const std::string& word = command[program];
    const std::size_t equals = word.find('=');
    if (equals == word.npos || equals == 0 || word.starts_with('-')) break;
    set[word.substr(0, equals)] = word.substr(equals + 1);
  }
  if (program == command.size() || command[program].starts_with('-')) return {};
  command.erase(command.begin(), command.begin() + static_cast<std::ptrdiff_t>(program));
  return set;
}

void give_effects(model::Spec& spec) {
  const auto script = script_of(spec);
  const auto source = script
                          ? os::read_file((std::filesystem::path(spec.workdir) / *script).string())
                          : Result<std::string>(std::string());
  classify_knobs(spec, source && code::trains(*source));
}

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
  spec.env = take_environment(spec.command);
  spec.workdir = usage.workdir;
  spec.accelerators = usage.accelerators;
  const Nanos wall = usage.end - usage.start;
  spec.time_limit = std::max<Nanos>(std::chrono::seconds(60), 10 * wall);
  knobs_from_command(spec);
  if (const auto script = script_of(spec)) {
    const auto source = os::read_file((std::filesystem::path(spec.workdir) / *script).string());
    if (source) knobs_from_source(spec, *source);
    if (source) formats_from_source(spec, *source);
    if (source) add_repo(*script, draft);
  } else if (!spec.command.empty() && spec.command.front().find('/') != std::string::npos) {
    add_repo(spec.command.front(), draft);
    spec.build = build_command_of(spec);
  }
  if (!draft.no_patches.empty()) draft.notes.push_back(draft.no_patches);
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
