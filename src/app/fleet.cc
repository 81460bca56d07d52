#include "app/fleet.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/scan_cycle.h"
#include "base/text.h"
#include "code/script.h"
#include "fleet/local/local.h"
#include "fleet/source.h"
#include "launch/slurm/past_job.h"
#include "launch/slurm/settings.h"
#include "model/codec.h"
#include "model/plan.h"
#include "os/files.h"
#include "os/private.h"

namespace amdahl::app {
namespace {

std::vector<std::string> usage_files(const Config& config) {
  const std::string folder = config.state_dir + "/usage";
  std::vector<std::string> files;
  for (const std::string& name : os::list(folder)) {
    if (name.ends_with(".json")) files.push_back(folder + "/" + name);
  }
  return files;
}

Result<std::vector<model::Usage>> read_usage(const std::string& file) {
  const std::string bytes = TRY(os::read_file(file));
  const fleet::Source source = TRY(fleet::sources().claiming(bytes).in(file));
  if (source.name != "local") {
    return bad_input(
        fmt::format("{}: is {}, not a usage record of `amdahl run`", file, source.reads));
  }
  return fleet::local::read(bytes).in(file);
}

Result<Adopted> record_spec(Context& context, model::Spec spec, const std::string& path,
                            std::vector<std::string> notes, bool replace) {
  TRY(model::make_plan(spec, {}).in(path));  // A recorded job may lack the secrets it ran with.
  const auto present = context.ledger->family(spec.family);
  if (!present && present.error().kind != Error::Kind::kNotFound) return present.error();
  const std::string now = dump_json(encode(spec));
  const bool differs = present && dump_json(encode(present->spec)) != now;
  if (differs && !replace) {
    return Error{Error::Kind::kConflict,
                 fmt::format("family '{}' already has another spec; to put {} in its place (its "
                             "live experiments are aborted) add --replace, or name another family",
                             spec.family, path)};
  }
  if (!present || differs) {
    TRY(note(context, {"family.adopted", "cycle", spec.family, encode(spec)}));
    if (const auto fleet = scan_here(context)) TRY(record_volumes(context, *fleet));
  }
  return Adopted{std::move(spec), path, std::move(notes)};
}

// What the job was given, for its pairs to get the same.
void take_size(const Config& config, const launch::slurm::PastJob& job, Draft& draft) {
  model::Spec& spec = draft.spec;
  const auto on_all = [&](int count) { return (count + job.nodes - 1) / job.nodes * job.nodes; };
  spec.accelerators = on_all(spec.accelerators);
  if (job.gpus > 0) spec.cpus = on_all(job.cpus);
  spec.layout = {job.nodes, job.tasks_per_node};
  const double memory = std::floor(job.memory_mb / job.nodes) - launch::slurm::kWorkerMb;
  if (memory >= launch::slurm::kWorkerMb) spec.memory_limit_mb = memory;
  const auto own = config.slurm_families.find(spec.family);
  const auto& settings = own == config.slurm_families.end() ? config.slurm : own->second;
  const bool same = settings.partition.empty() ? job.in_default || job.partition.empty()
                                               : settings.partition == job.partition;
  if (same) return;
  draft.notes.push_back(fmt::format(
      "it ran in partition {0}, and pairs go to {1}: write partition = \"{0}\" under "
      "[slurm.families.{2}] of the configuration to send them there, too",
      job.partition, settings.partition.empty() ? "the site's default" : settings.partition,
      spec.family));
}

// A job that Slurm ran, as if `amdahl run` had seen it. A script that is more than one command, or
// runs on several nodes, is kept beside the spec: it starts the ranks.
Result<Draft> draft_of_slurm(Context& context, const std::string& id, const std::string& family) {
  const launch::slurm::PastJob job = TRY(launch::slurm::past_job(id));
  model::Usage usage;
  usage.job = "slurm-" + job.id;
  usage.user = job.user;
  usage.family = family.empty() ? lower(job.name) : family;
  for (char& c : usage.family) {
    const bool fits = (c >= 'a' && c <= 'z') || is_digit(c) || c == '.' || c == '_' || c == '-';
    if (!fits) c = '-';
  }
  usage.workdir = job.workdir;
  usage.accelerators = job.gpus > 0 ? job.gpus : job.cpus;
  usage.start = job.start;
  usage.end = job.end;
  usage.failed = job.state != "COMPLETED";
  usage.ending = lower(job.state);
  std::string shell_line;
  const auto command = job.nodes > 1 ? std::nullopt : code::only_command(job.script, &shell_line);
  if (command) {
    if (!command->folder.empty()) {
      usage.workdir = (std::filesystem::path(job.workdir) / command->folder).string();
    }
    if (!command->env.empty()) usage.command.emplace_back("env");
    for (const auto& [name, value] : command->env) usage.command.push_back(name + "=" + value);
    std::ranges::copy(command->words, std::back_inserter(usage.command));
  } else {
    TRY(os::make_dirs(context.path("specs")));
    const std::string path = context.path(fmt::format("specs/{}.sh", usage.family));
    TRY(os::write_file(path, job.script));
    usage.command = {"bash", path};
  }
  Draft draft = TRY(draft_spec(usage, family));
  take_size(context.config, job, draft);
  if (!shell_line.empty()) {
    draft.notes.push_back(fmt::format(
        "settings of the program were not looked for, because its script needs a shell ('{}'); "
        "give the program itself as command, or add [knobs]",
        clip(shell_line, 60)));
  }
  return draft;
}

}  // namespace

std::vector<model::Usage> jobs_of(const Config& config, const std::string& family) {
  std::vector<model::Usage> jobs;
  for (const std::string& file : usage_files(config)) {
    auto usages = read_usage(file);
    if (!usages) continue;
    for (model::Usage& usage : *std::move(usages)) {
      if (usage.family == family) jobs.push_back(std::move(usage));
    }
  }
  return jobs;
}

Result<model::Usage> find_job(const Config& config, const std::string& job) {
  if (job.ends_with(".json") && os::exists(job)) {
    std::vector<model::Usage> usages = TRY(read_usage(job));
    if (usages.size() == 1) return std::move(usages.front());
    return bad_input(fmt::format("{} holds {} jobs; name one", job, usages.size()));
  }
  const std::string folder = config.state_dir + "/usage";
  std::vector<std::string> found;
  for (const std::string& name : os::list(folder)) {
    if (!name.ends_with(".json")) continue;
    if (job == "last" || name.starts_with(job)) found.push_back(name);
  }
  if (job == "last" && !found.empty()) {
    found = {*std::ranges::max_element(found, {}, [&](const std::string& name) {
      std::error_code ignored;
      return std::filesystem::last_write_time(folder + "/" + name, ignored);
    })};
  }
  if (found.size() == 1) {
    const std::vector<model::Usage> usages = TRY(read_usage(folder + "/" + found.front()));
    return usages.front();
  }
  return Error{
      Error::Kind::kNotFound,
      found.empty()
          ? fmt::format("no job '{}' in {}; run one: amdahl run -- CMD", job, folder)
          : fmt::format("'{}' may be any of {} jobs; type more of its id", job, found.size())};
}

Result<scan::Anatomy> job_anatomy(const Config& config, const std::string& job) {
  return scan::anatomy_of(TRY(find_job(config, job)), {.idle_below = config.idle_threshold});
}

Result<Adopted> adopt_spec(Context& context, const std::string& file, bool replace) {
  const std::string path = os::absolute(file);
  const std::string text = TRY(os::read_file(path));
  const std::string folder = std::filesystem::path(path).parent_path().string();
  model::Spec spec = TRY(model::parse_spec(text, file, folder));
  return record_spec(context, std::move(spec), path, {}, replace);
}

Result<Adopted> adopt_job(Context& context, const std::string& job, const std::string& family,
                          const std::string& output, bool replace) {
  constexpr std::string_view kSlurm = "slurm:";
  Draft draft;
  std::string drafted_from = job;
  if (job.starts_with(kSlurm)) {
    draft = TRY(draft_of_slurm(context, job.substr(kSlurm.size()), family));
  } else {
    const model::Usage usage = TRY(find_job(context.config, job));
    drafted_from = usage.job;
    draft = TRY(draft_spec(usage, family));
    draft.notes.push_back(
        fmt::format("or let amdahl infer it from two runs: cd {} && amdahl adopt --replace -- {}",
                    shell_quote({{draft.spec.workdir}}), shell_quote(usage.command)));
  }
  std::string path = output;
  if (path.empty()) {
    TRY(os::make_dirs(context.path("specs")));
    path = context.path(fmt::format("specs/{}.toml", draft.spec.family));
  }
  std::string text = fmt::format("# Drafted from job {} by `amdahl adopt`.\n", drafted_from);
  for (const std::string& line : draft.notes) text += fmt::format("# To do: {}\n", line);
  text += model::to_toml(draft.spec);
  TRY((output.empty() ? os::write_file : os::write_shared)(path, text));
  return record_spec(context, std::move(draft.spec), path, std::move(draft.notes), replace);
}

}  // namespace amdahl::app
