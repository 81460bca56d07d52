#include "app/job_profile.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/trace_files.h"
#include "base/json.h"
#include "code/finding.h"
#include "code/script.h"
#include "launch/launcher.h"
#include "launch/local/patched.h"
#include "model/codec.h"
#include "observe/bpf/read_record.h"
#include "os/files.h"
#include "os/left.h"
#include "profile/cause_kinds.h"
#include "profile/ceiling.h"
#include "profile/classify.h"
#include "profile/device_facts.h"
#include "profile/host_ranks.h"
#include "profile/wait_lines.h"

namespace amdahl::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSources = 400;
constexpr std::uintmax_t kLargestSource = 1 << 20;
constexpr std::size_t kMostExcerptBytes = 8000;
constexpr std::size_t kMostFilesNamed = 20;

// Files of one program, each once, as far as there is room.
class Sources {
 public:
  explicit Sources(fs::path root) : root_{std::move(root)} {}

  void add(const fs::path& path) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    if (error || !code::language_of(real.string()) || !seen_.insert(real.string()).second) return;
    if (sources_.size() >= kMostSources || fs::file_size(real, error) > kLargestSource) return;
    auto bytes = os::read_file(real.string());
    if (bytes) sources_.push_back({real.string(), *std::move(bytes), name_in_repo(real)});
  }

  // Not below: what lies beside a script is its own, what lies deeper may be anything.
  void add_folder(const fs::path& folder, bool deep) {
    std::error_code error;
    if (!deep) {
      for (const auto& entry : fs::directory_iterator(folder, error)) add(entry.path());
      return;
    }
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
      const std::string name = at->path().filename().string();
      const bool hidden = name.starts_with('.') || name == "node_modules" || name == "build";
      std::error_code ignored;
      if (at->is_directory(ignored) && hidden) at.disable_recursion_pending();
      if (at->is_regular_file(ignored)) add(at->path());
    }
  }

  std::vector<code::Source> take() { return std::move(sources_); }

 private:
  std::string name_in_repo(const fs::path& real) const {
    if (root_.empty()) return "";
    const fs::path inside = real.lexically_relative(root_);
    return inside.empty() || *inside.begin() == ".." ? "" : inside.string();
  }

  fs::path root_;
  std::set<std::string> seen_;
  std::vector<code::Source> sources_;
};

// The Python script that the command runs; empty if it runs none.
std::string entry_of(const model::Spec& spec) {
  for (const std::string& word : spec.command) {
    const fs::path path = fs::path(spec.workdir) / word;
    if (word.ends_with(".py") && os::exists(path.string())) {
      std::error_code error;
      return fs::weakly_canonical(path, error).string();
    }
  }
  return "";
}

struct Read {
  Nanos at_exit{};  // What the hook did after the job's end, in the run with the collectors.
  Nanos cpu_at_exit{};
  std::vector<profile::Facts> facts;
  std::vector<profile::LineCost> lines;
  std::ptrdiff_t from_hook = 0;  // The first of them.
  std::int64_t hooked = 0;       // The process that the hook tells of,
  std::int64_t thread = 0;       // and of it the thread with the steps.
  bool has_steps = false;        // That one.
  std::vector<profile::LineCost> wait_lines;
  JobProfile into;
};

Nanos without(Nanos part, Nanos whole) { return part < whole ? whole - part : whole; }

std::optional<model::Receipt> own_receipt(const Collected& collected) {
  const auto text = os::read_left(collected.folder + "/receipt.json");
  const auto json = text ? parse_json(*text) : Result<Json>(bad_input("no receipt"));
  auto own = json ? model::decode<model::Receipt>(*json) : Result<model::Receipt>(json.error());
  return own ? std::optional(*std::move(own)) : std::nullopt;
}

// The run with the collectors as it would have been without what the hook did last.
model::Receipt of_the_job(model::Receipt receipt, const Collected& collected, const Read& read) {
  const auto own = own_receipt(collected);
  if (!own || own->id != receipt.id) return receipt;
  receipt.wall = without(read.at_exit, receipt.wall);
  receipt.cpu_user = without(read.cpu_at_exit, receipt.cpu_user);
  return receipt;
}

void read_hook(const Collected& collected, Read& read) {
  const auto text = os::read_left(collected.folder + "/hook.json");
  if (!text) return;
  auto facts = profile::read_hook(*text);
  if (!facts) {
    read.into.problems.push_back("hook.json: " + facts.error().text);
    return;
  }
  const auto seconds = [&](const char* name) {
    const auto found = facts->evidence.find(name);
    return found == facts->evidence.end() ? Nanos{} : from_seconds(found->second);
  };
  read.at_exit = seconds("hook.exit_s");
  read.cpu_at_exit = seconds("hook.exit_cpu_s");
  read.lines = facts->lines;
  read.from_hook = std::ssize(read.lines);
  read.hooked = facts->process;
  read.thread = facts->thread != 0 ? facts->thread : facts->process;
  const auto steps = facts->evidence.find("hook.steps");
  read.has_steps = steps != facts->evidence.end() && steps->second > 0;
  read.facts.push_back(*std::move(facts));
}

// Shell scripts in the command, named as there.
std::vector<code::Source> scripts_of(const model::Spec& spec) {
  std::vector<code::Source> scripts;
  for (const std::string& word : spec.command) {
    const std::string path = (fs::path(spec.workdir) / word).string();
    std::error_code error;
    const auto size = fs::is_regular_file(path, error) ? fs::file_size(path, error) : 0;
    if (error || size == 0 || size > kLargestSource) continue;
    auto bytes = os::read_file(path);
    if (bytes && code::is_script(path, *bytes)) scripts.push_back({word, *std::move(bytes), ""});
  }
  return scripts;
}

void read_waits(const model::Spec& spec, const Collected& collected, Read& read) {
  const std::string path = collected.folder + "/waits.jsonl";
  if (!os::exists(path)) return;
  auto record = observe::read_record(path);
  if (!record) {
    read.into.problems.push_back(record.error().text);
    return;
  }
  model::BpfSummary waits = *std::move(record);
  waits.wall = without(read.at_exit, waits.wall);
  if (read.has_steps) {
    waits.stepping = read.hooked;
    waits.stepping_thread = read.thread;
  }
  read.facts.push_back(profile::facts_of(waits, read.thread, scripts_of(spec)));
  read.into.waits = profile::waits_report(waits);
  read.wait_lines = profile::line_costs(waits);
  read.into.hot.loader = profile::loader_line(waits);
}

// Who looks from inside a program knows its lines better: those of files that it saw stay alone.
// Of several ranks it looks at one, and what the others did in lines that this one never reached
// was seen from outside.
void add_wait_lines(Read& read) {
  int ranks = 1;
  if (read.into.waits) {
    for (const profile::RoleWaits& role : read.into.waits->roles) {
      if (role.role == profile::Role::kStep) ranks = role.at_once;
    }
  }
  std::set<std::string> files;
  std::set<std::pair<std::string, int>> seen;
  for (const profile::LineCost& cost : read.lines) {
    files.insert(cost.file);
    seen.emplace(cost.file, cost.line);
  }
  for (profile::LineCost& cost : read.wait_lines) {
    const bool is_new =
        ranks > 1 ? !seen.contains({cost.file, cost.line}) : !files.contains(cost.file);
    if (is_new) read.lines.push_back(std::move(cost));
  }
}

void read_gpus(const Collected& collected, Read& read) {
  const auto text = os::read_left(collected.folder + "/gpus.jsonl");
  if (!text) return;
  auto gpus = profile::read_gpus(*text);
  if (!gpus) {
    read.into.problems.push_back("gpus.jsonl: " + gpus.error().text);
    return;
  }
  read.into.gpus = *std::move(gpus);
  read.facts.push_back(profile::facts_of(read.into.gpus));
}

// Of the run with the collectors, as far as the hook counted them; 1 if it did not.
double share_in_steps(const Read& read, const std::optional<model::Receipt>& own) {
  double seconds = 0;
  for (const profile::Facts& facts : read.facts) {
    const auto steps = facts.evidence.find("hook.steps");
    const auto each = facts.evidence.find("hook.step_ms");
    if (steps == facts.evidence.end() || each == facts.evidence.end()) continue;
    seconds = steps->second * each->second / 1000;
  }
  if (!own || own->wall <= Nanos{} || seconds <= 0) return 1;
  return std::min(1.0, seconds / to_seconds(own->wall));
}

void add_traces(const Collected& collected, Read& read) {
  if (collected.traces.empty()) return;
  const auto trace = app::read_traces({collected.traces, "", {}});
  if (!trace) {
    read.into.problems.push_back(trace.error().text);
    return;
  }
  const profile::Prepared prepared(*trace);
  read.into.trace = profile::report(prepared);
  for (const profile::DeviceRow& device : read.into.trace->devices) {
    for (profile::LineCost& cost : profile::line_costs(device.gaps)) {
      read.lines.push_back(std::move(cost));
    }
  }
  const auto own = own_receipt(collected);
  read.facts.push_back(profile::facts_of(*read.into.trace, own ? own->wall : Nanos{}));
  read.facts.push_back(profile::facts_of(profile::host_ranks(*trace), share_in_steps(read, own)));
}

Read read_all(const model::Spec& spec, const Collected& collected) {
  Read read;
  read_hook(collected, read);
  read_waits(spec, collected, read);
  read_gpus(collected, read);
  add_traces(collected, read);
  add_wait_lines(read);
  return read;
}

// Times of lines are of the run with the collectors, which took longer or shorter than the one
// whose times count: they stand for the same share of it.
void scale_lines(const Collected& collected, Nanos wall, Read& read) {
  const auto own = own_receipt(collected);
  if (!own || own->wall <= Nanos{} || wall <= Nanos{}) return;
  for (profile::LineCost& line : read.lines) {
    line.seconds *= to_seconds(wall) / to_seconds(without(read.at_exit, own->wall));
  }
}

void find_lines(const model::Spec& spec, Read& read) {
  const std::vector<code::Source> sources = sources_of(spec, read.lines);
  if (sources.empty()) return;
  const code::Analysis analysis = code::analyse(sources, entry_of(spec));
  read.into.findings = profile::findings(analysis.findings, read.into.profile, read.lines);
  // Only who looks from inside knows the innermost line and the phase.
  const auto first = read.lines.begin();
  profile::HotLines hot = profile::hot_lines({first, first + read.from_hook}, analysis.models);
  hot.loader = read.into.hot.loader;
  read.into.hot = std::move(hot);
  std::vector<profile::LineCost> lines = read.lines;
  if (read.into.waits) std::ranges::copy(read.into.waits->lines, std::back_inserter(lines));
  read.into.code = brief::excerpts(sources, lines, read.into.findings, kMostExcerptBytes);
  read.into.files = brief::source_files(sources, kMostFilesNamed);
}

}  // namespace

std::string work_tree_of(const std::string& folder) {
  std::error_code error;
  for (fs::path at = fs::weakly_canonical(folder, error); !folder.empty() && !at.empty();
       at = at.parent_path()) {
    if (fs::exists(at / ".git", error)) return at.string();
    if (at == at.parent_path()) break;
  }
  return "";
}

Collected collected_in(const std::string& folder) {
  Collected collected{folder, {}};
  for (const std::string& name : os::list(folder)) {
    const bool is_trace = (name.starts_with("inject-") && name.ends_with(".json")) ||
                          name.ends_with(".pt.trace.json") || name == "nsys.sqlite" ||
                          name == "ncu.csv";
    if (is_trace && os::is_plain(folder + "/" + name)) {
      collected.traces.push_back(folder + "/" + name);
    }
  }
  return collected;
}

model::Spec spec_of_run(const model::Spec& spec, const Collected& collected) {
  const fs::path run = fs::path(collected.folder).parent_path();
  const auto text = os::read_left((run / "request.json").string());
  const auto json = text ? parse_json(*text) : Result<Json>(bad_input("no request"));
  if (!json) return spec;
  const auto request = launch::decode_request(*json);
  if (!request || request->a.patch.empty() || request->commit.empty()) return spec;
  // The run made the tree, so that this only finds it.
  const fs::path trees = run.parent_path().parent_path() / "trees";
  const auto moved =
      launch::local::in_patched_tree(request->spec, request->a, trees.string(), request->commit);
  if (!moved) return spec;
  model::Spec there = spec;
  there.workdir = moved->workdir;
  // The tree is where the workdir lies, or a file that the command names by its full path.
  std::string inside = moved->workdir;
  for (std::size_t i = 0; i < moved->argv.size(); ++i) {
    const std::string& was = request->a.argv[i];
    if (moved->argv[i] == was) continue;
    std::ranges::replace(there.command, was, moved->argv[i]);
    const std::size_t path = moved->argv[i].find(trees.string());
    if (path != std::string::npos) inside = fs::path(moved->argv[i].substr(path)).parent_path();
  }
  there.repo = work_tree_of(inside);
  return there;
}

std::vector<code::Source> sources_of(const model::Spec& spec,
                                     const std::vector<profile::LineCost>& lines) {
  Sources sources(work_tree_of(spec.repo.empty() ? spec.workdir : spec.repo));
  for (const profile::LineCost& line : lines) sources.add(line.file);
  if (const std::string entry = entry_of(spec); !entry.empty()) {
    sources.add_folder(fs::path(entry).parent_path(), false);
  }
  if (!spec.repo.empty()) sources.add_folder(spec.repo, true);
  return sources.take();
}

JobProfile join_collected(const model::Spec& spec, const model::Receipt& measured,
                          const Collected& collected, const model::Change& baseline) {
  Read read = read_all(spec, collected);
  const model::Receipt receipt = of_the_job(measured, collected, read);
  read.facts.insert(read.facts.begin(), profile::facts_of(receipt));
  read.into.profile = profile::classify(spec, receipt, read.facts, baseline);
  scale_lines(collected, receipt.wall, read);
  find_lines(spec, read);
  if (const double needless = profile::needless_imports(read.into.findings); needless > 0) {
    profile::Facts facts;
    facts.evidence[profile::kNeedlessImports] = needless;
    read.facts.push_back(std::move(facts));
    read.into.profile = profile::classify(spec, receipt, read.facts, baseline);
  }
  profile::add_line_causes(read.into.findings, read.into.profile);
  return std::move(read.into);
}

JobProfile explain(const model::Spec& spec, model::Profile profile, const Collected& collected) {
  Read read = read_all(spec, collected);
  read.into.profile = std::move(profile);
  for (model::Cause& cause : read.into.profile.causes) profile::add_missing_id(cause);
  scale_lines(collected, read.into.profile.wall, read);
  find_lines(spec, read);
  return std::move(read.into);
}

CauseAdvice advice_on(const JobProfile& job, const model::Cause& cause) {
  CauseAdvice advice;
  advice.expected = profile::expected_gain(cause);
  advice.behind = profile::finding_behind(job.findings, cause);
  if (advice.behind != nullptr) {
    advice.beside = profile::finding_beside(job.findings, *advice.behind, cause);
  }
  advice.went_to = profile::hot_line_of(job.findings, job.hot, cause, to_seconds(job.profile.wall));
  advice.to_try =
      profile::advice_on(job.findings, cause, profile::framework_of_job(job.profile.evidence));
  return advice;
}

}  // namespace amdahl::app
