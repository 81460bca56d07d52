#include "app/infer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "base/count.h"
#include "base/text.h"
#include "model/pattern.h"
#include "os/files.h"

extern char** environ;

namespace amdahl::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 20'000;
constexpr std::size_t kMostOutputs = 12;
constexpr std::size_t kMostMetrics = 3;
constexpr std::size_t kMostNamed = 8;  // Inputs of one folder.
constexpr double kShortestJob = 1.0;   // Seconds.
// What a number may differ by that two unchanged runs agree on: other thread counts add in another
// order.
constexpr double kRounding = 0.005;
constexpr double kNoiseMargin = 3;  // Times what two unchanged runs differ by.

constexpr std::string_view kNumber = R"((-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?))";

// What people print of the work they have done. The first that fits counts.
struct WorkWord {
  std::string_view unit;
  std::string_view words;
  bool follows;  // The word comes after its number.
  double confidence;
};

constexpr auto kWork = std::to_array<WorkWord>({
    {"samples", "samples|examples|images|sentences|records|rows|items", true, 0.9},
    {"tokens", "tokens", true, 0.9},
    {"iterations", "iter(?:ation)?s?", false, 0.8},
    {"steps", "(?:global[ _])?steps?", false, 0.8},
    {"batches", "batch(?:es)?", false, 0.7},
    {"epochs", "epochs?", false, 0.6},
});

// A count is a whole number. "640 samples/s" and "iter 1.25 s" are not.
std::string work_pattern(const WorkWord& word) {
  return word.follows
             ? fmt::format(R"((?i)(?:^|[^.\w])([0-9]+) (?:{})(?:$|[^\w/ ]| $| [^p/]))", word.words)
             : fmt::format(R"((?i)\b(?:{})[ :=#]*\[? *([0-9]+)(?:$|[^.0-9]|\.$|\.[^0-9]))",
                           word.words);
}

struct MetricWord {
  std::string_view name;
  std::string_view words;
  bool higher;
};

// In the order of how much they say of what was learnt.
constexpr auto kMetrics = std::to_array<MetricWord>({
    {"validation_loss", R"(\b(?:val(?:id(?:ation)?)?|eval|test)[ _]loss)", false},
    {"perplexity", R"(\b(?:perplexity|ppl))", false},
    {"accuracy", R"(\b(?:accuracy|acc(?:@1)?|top-?1))", true},
    {"auc", R"(\b(?:roc[ _])?auc)", true},
    {"f1", R"(\bf1(?:[ _-]score)?)", true},
    {"bleu", R"(\bbleu)", true},
    {"loss", R"(\bloss)", false},
    {"error", R"(\b(?:rmse|mse|mae|error))", false},
    {"score", R"(\b(?:score|reward|recall|precision))", true},
});

std::string metric_pattern(const MetricWord& metric) {
  return fmt::format(R"((?i){}\b *[:=]? *(?:is |of )?{})", metric.words, kNumber);
}

// The last number that a pattern finds, line by line; nothing if a match is no number.
std::optional<double> last_number(std::string_view output, const std::string& pattern) {
  const auto wanted = model::WorkPattern::make(pattern);
  if (!wanted) return std::nullopt;
  std::optional<double> number;
  for (const std::string_view line : split(output, '\n')) {
    for (const std::string_view shown : split(line, '\r')) {
      const auto found = wanted->find(shown);
      if (found) number = to_number<double>(trim(*found));
    }
  }
  return number && std::isfinite(*number) ? number : std::nullopt;
}

Error ended_badly(const model::Receipt& receipt, std::string_view which) {
  const std::string_view tail = trim(receipt.stderr_tail);
  const std::string last = tail.empty() ? "" : std::string(clip(split(tail, '\n').back(), 160));
  const std::string said = lower(tail);
  const auto mentions = [&](std::string_view word) { return said.find(word) != said.npos; };
  constexpr auto kTerminal = std::to_array<std::string_view>(
      {"eoferror", "a tty", "/dev/tty", "ioctl", "terminal", "curses", "termios"});
  if (std::ranges::any_of(kTerminal, mentions)) {
    return bad_input(fmt::format(
        "the {} run of the job asked for a terminal or for input ({}): pass options or a file "
        "instead",
        which, last));
  }
  const std::string end = describe_ending(receipt) + (last.empty() ? "" : " (" + last + ")");
  if (receipt.ending == model::Ending::kTimeLimit) {
    return bad_input(
        fmt::format("the {} run of the job used the whole budget: {}; give the job less work "
                    "and a fixed end, or pass a larger --budget",
                    which, end));
  }
  if (which == "first") {
    return bad_input(fmt::format("the first run of the job failed: {}; fix that first", end));
  }
  if (mentions("exist")) {
    return bad_input(fmt::format(
        "the second run of the job failed: {}; files that the first run left are in the way: let "
        "the job overwrite its results, or tune a script that removes them first",
        end));
  }
  return bad_input(fmt::format(
      "the second run of the job failed: {}; the first run succeeded, so the job fails at random "
      "or cannot be repeated: fix that first",
      end));
}

Result<> check_repeatable(const SeenRun& first, const SeenRun& second) {
  if (!succeeded(first.receipt)) return ended_badly(first.receipt, "first");
  if (!succeeded(second.receipt)) return ended_badly(second.receipt, "second");
  const double seconds = to_seconds(first.receipt.wall);
  const int left = std::max(first.receipt.left_behind, second.receipt.left_behind);
  if (left > 0) {
    return bad_input(
        fmt::format("the job exits while {} it started {} still running; make it stay in the "
                    "foreground until its work is done",
                    counted(left, "process", "processes"), left == 1 ? "is" : "are"));
  }
  if (std::max(seconds, to_seconds(second.receipt.wall)) < kShortestJob) {
    return bad_input(
        fmt::format("the job takes {:.2f} s: below a second the start of a process hides every "
                    "effect; give it more work to do, or tune a script that runs it many times",
                    seconds));
  }
  return Ok{};
}

Error other_work(double first, double second, std::string_view unit) {
  return bad_input(fmt::format(
      "two unchanged runs did different work ({} and {}{}{}): the job resumes "
      "earlier work, stops at a varying point, or its input changes; make it start from scratch "
      "each time and do a fixed amount of work",
      first, second, unit.empty() ? "" : " ", unit));
}

Result<Inferred> infer_work(const SeenRun& first, const SeenRun& second, model::Spec& spec) {
  const model::Receipt& reported = first.receipt;
  if (reported.work && second.receipt.work) {
    if (*reported.work != *second.receipt.work) {
      return other_work(*reported.work, *second.receipt.work, "");
    }
    return Inferred{"work", "as the job reports it", "it writes to AMDAHL_REPORT", 1};
  }
  std::optional<Error> differs;
  for (const WorkWord& word : kWork) {
    const std::string pattern = work_pattern(word);
    const auto a = last_number(first.output, pattern);
    const auto b = last_number(second.output, pattern);
    if (!a || !b) continue;
    // A run that does less must not win by that.
    if (*a != *b && !differs) differs = other_work(*a, *b, word.unit);
    if (*a != *b || *a <= 0) continue;
    spec.work_unit = word.unit;
    spec.work_pattern = pattern;
    spec.fixed_work.reset();
    return Inferred{"work", fmt::format("{} {}", *a, word.unit), "both runs print it last",
                    word.confidence};
  }
  if (differs) return *differs;
  spec.work_unit = "runs";
  spec.work_pattern.clear();
  spec.fixed_work = 1;
  return Inferred{
      "work", "1 run",
      "nothing that the job prints counts its work: each run is taken to do the same work, and "
      "only changes that leave its results the same can win",
      0.5};
}

// Whether the file is a log or the like, which says how the run went and not what came out.
bool is_log(std::string_view path) {
  const std::string name = lower(fs::path(path).filename().string());
  return name.ends_with(".log") || name.find("tfevents") != name.npos || name.ends_with(".pid") ||
         name.ends_with(".lock");
}

Inferred infer_outputs(const SeenRun& first, const SeenRun& second, model::Spec& spec) {
  std::vector<std::string> same;
  std::vector<std::string> present;
  for (const auto& [path, digest] : first.written) {
    const auto again = second.written.find(path);
    if (again == second.written.end() || is_log(path)) continue;
    (again->second == digest ? same : present).push_back(path);
  }
  spec.outputs.clear();
  for (const std::string& path : same) {
    if (spec.outputs.size() < kMostOutputs) spec.outputs.push_back({path, true});
  }
  const bool quiet = first.output.empty();
  const bool prints_the_same = !quiet && first.receipt.stdout_sha256 &&
                               second.receipt.stdout_sha256 &&
                               *first.receipt.stdout_sha256 == *second.receipt.stdout_sha256;
  if (prints_the_same) spec.outputs.push_back({"{out}/stdout", true});
  const std::size_t digested = spec.outputs.size();
  for (const std::string& path : present) {
    if (spec.outputs.size() < kMostOutputs) spec.outputs.push_back({path, false});
  }
  if (spec.outputs.empty()) return {"outputs", "none", "no file was written by both runs", 0.7};
  std::vector<std::string> names;
  for (const model::Output& output : spec.outputs) {
    names.push_back(output.path + (output.digest ? "" : " (only that it exists)"));
  }
  if (digested == names.size()) {
    return {"outputs", join(names, ", "), "both runs left the same bytes", 0.9};
  }
  return {"outputs", join(names, ", "),
          fmt::format("{} of {} had the same bytes in both runs. A change that spoils the others "
                      "is noticed only by the quality: set a seed, or add [[quality]] to the spec",
                      digested, names.size()),
          0.6};
}

Inferred infer_quality(const SeenRun& first, const SeenRun& second, model::Spec& spec) {
  spec.quality.clear();
  std::vector<std::string> found;
  for (const MetricWord& metric : kMetrics) {
    const std::string pattern = metric_pattern(metric);
    const auto a = last_number(first.output, pattern);
    const auto b = last_number(second.output, pattern);
    if (!a || !b || spec.quality.size() >= kMostMetrics) continue;
    const double tolerance = std::max(kRounding * std::abs(*a), kNoiseMargin * std::abs(*a - *b));
    spec.quality.push_back({std::string(metric.name), tolerance, metric.higher, pattern});
    found.push_back(fmt::format("{} {} and {} (may get worse by {})", metric.name, show_number(*a),
                                show_number(*b), show_number(tolerance)));
  }
  if (found.empty())
    return {"quality", "none", "no loss, accuracy or similar value is printed", 0.7};
  return {"quality", join(found, "; "),
          "the last ones printed by two unchanged runs; half a percent is allowed for rounding, or "
          "three times what the two differ by",
          0.8};
}

// Where the command's first word is found, as the shell would; empty if nowhere.
std::string program_of(const model::Spec& spec) {
  if (spec.command.empty()) return "";
  const std::string& name = spec.command.front();
  const char* path = std::getenv("PATH");
  std::vector<std::string> folders{spec.workdir};
  if (name.find('/') == name.npos) {
    folders.clear();
    for (const std::string_view folder : split(path ? path : "", ':')) folders.emplace_back(folder);
  }
  for (const std::string& folder : folders) {
    std::error_code failed;
    const fs::path place = fs::path(folder) / name;
    if (fs::is_regular_file(place, failed)) return place.string();
  }
  return "";
}

// Code is not input: what runs is recorded by itself.
bool is_code(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return name.ends_with(".py") || name.ends_with(".pyc") || name.ends_with(".so") ||
         contains(name, ".so.");
}

// Files that both runs opened. Many of one folder are given as the folder, unless the job writes
// there too.
std::set<std::string> opened_by_both(const SeenRun& first, const SeenRun& second,
                                     const model::Spec& spec) {
  std::map<std::string, std::set<std::string>> by_folder;
  for (const std::string& path : first.opened) {
    const bool is_pattern = path.find_first_of("*?[") != path.npos;
    if (!second.opened.contains(path) || is_pattern || is_code(path) ||
        first.written.contains(path) || second.written.contains(path)) {
      continue;
    }
    const bool is_program = fs::path(spec.workdir) / path ==
                            (fs::path(spec.workdir) / spec.command.front()).lexically_normal();
    if (!is_program) by_folder[fs::path(path).parent_path().string()].insert(path);
  }
  std::set<std::string> inputs;
  for (auto& [folder, files] : by_folder) {
    const auto below = [&](const auto& item) { return item.first.starts_with(folder + "/"); };
    const bool is_written = folder.empty() || std::ranges::any_of(first.written, below) ||
                            std::ranges::any_of(second.written, below);
    if (files.size() <= kMostNamed || is_written) {
      inputs.merge(files);
    } else {
      inputs.insert(folder + "/*");
    }
  }
  return inputs;
}

// Files and folders that the command names.
std::set<std::string> named_by_command(const SeenRun& first, const SeenRun& second,
                                       const model::Spec& spec) {
  std::set<std::string> inputs;
  const auto is_written = [&](const std::string& path) {
    const std::string folder = path + "/";
    const auto below = [&](const auto& item) {
      return item.first == path || item.first.starts_with(folder);
    };
    return std::ranges::any_of(first.written, below) || std::ranges::any_of(second.written, below);
  };
  for (std::size_t i = 1; i < spec.command.size(); ++i) {
    const std::string& word = spec.command[i];
    const std::string path =
        word.substr(word.starts_with("-") && word.find('=') != word.npos ? word.find('=') + 1 : 0);
    if (path.empty() || path.starts_with("-") || is_code(path)) continue;
    std::error_code failed;
    const fs::path place = fs::path(spec.workdir) / path;
    std::string plain = fs::path(path).lexically_normal().string();
    while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
    if (is_written(plain) || plain == "." || plain == "/") continue;
    if (fs::is_regular_file(place, failed)) inputs.insert(plain);
    if (fs::is_directory(place, failed)) inputs.insert(plain + "/*");
  }
  return inputs;
}

// What the job reads and does not write: both arms must be shown to have read the same.
Inferred infer_inputs(const SeenRun& first, const SeenRun& second, model::Spec& spec) {
  std::set<std::string> inputs = opened_by_both(first, second, spec);
  const bool was_seen = !inputs.empty();
  inputs.merge(named_by_command(first, second, spec));
  const std::string program = inputs.empty() ? program_of(spec) : "";
  if (!program.empty()) inputs.insert(program);
  spec.inputs.assign(inputs.begin(), inputs.end());
  const std::string value = inputs.empty() ? "none" : fmt::format("{}", fmt::join(inputs, ", "));
  if (was_seen) return {"inputs", value, "both runs opened them, or the command names them", 0.9};
  if (!program.empty() || inputs.empty()) {
    return {"inputs", value,
            "the job opened no file in its folder and the command names none: its program stands "
            "for them",
            0.4};
  }
  return {"inputs", value, "the command names them and the runs did not write them", 0.7};
}

// Unix time; 0 if it cannot be told.
Nanos changed_at(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return Nanos{0};
  return std::chrono::seconds(info.st_mtim.tv_sec) + Nanos{info.st_mtim.tv_nsec};
}

}  // namespace

bool is_comparable(const model::Spec& spec) {
  return !spec.quality.empty() ||
         std::ranges::any_of(spec.outputs, [](const model::Output& o) { return o.digest; });
}

std::string why_never_promoted(const model::Spec& spec) {
  if (!is_comparable(spec)) {
    return "none of its results can be compared: add [[outputs]] or [[quality]] to its spec";
  }
  if (spec.inputs.empty()) {
    return "its spec names no inputs, so different inputs of A and B could look like a saving: "
           "list "
           "the input files (paths or globs) under inputs";
  }
  return "";
}

std::map<std::string, std::string> files_written(const std::string& folder, Nanos since,
                                                 const std::string& except) {
  std::map<std::string, std::string> written;
  std::error_code failed;
  std::size_t seen = 0;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied,
                                      failed);
  for (; !failed && it != fs::recursive_directory_iterator(); it.increment(failed)) {
    if (++seen > kMostEntries) break;
    const std::string name = it->path().filename().string();
    std::error_code ignored;
    if (it->is_directory(ignored)) {
      const bool is_ours = !except.empty() && fs::equivalent(it->path(), except, ignored);
      if (name.starts_with('.') || name == "__pycache__" || is_ours) {
        it.disable_recursion_pending();
      }
      continue;
    }
    if (!it->is_regular_file(ignored) || it->is_symlink(ignored) || name.ends_with(".pyc")) {
      continue;
    }
    if (changed_at(it->path().string()) < since) continue;
    const auto digest = os::sha256_of_file(it->path().string());
    if (digest) written[it->path().lexically_relative(folder).string()] = *digest;
  }
  return written;
}

Result<std::vector<Inferred>> infer(const SeenRun& first, const SeenRun& second,
                                    model::Spec& spec) {
  TRY(check_repeatable(first, second));
  std::vector<Inferred> all{TRY(infer_work(first, second, spec)),
                            infer_outputs(first, second, spec), infer_quality(first, second, spec),
                            infer_inputs(first, second, spec)};
  if (!is_comparable(spec)) {
    return bad_input(
        "nothing that the job leaves can be compared: its files and its output differ from run to "
        "run and it prints no loss or other result. Set a seed, let it print a result, or name "
        "what must stay the same ([[outputs]] or [[quality]], docs/format/spec.md)");
  }
  return all;
}

std::map<std::string, std::string> settings_in_environment() {
  constexpr auto kStarts = std::to_array<std::string_view>({"OMP_",
                                                            "GOMP_",
                                                            "KMP_",
                                                            "MKL_",
                                                            "OPENBLAS_",
                                                            "NUMEXPR_",
                                                            "BLIS_",
                                                            "TORCH_",
                                                            "PYTORCH_",
                                                            "CUDA_",
                                                            "CUBLAS_",
                                                            "CUDNN_",
                                                            "NCCL_",
                                                            "TF_",
                                                            "XLA_",
                                                            "MALLOC_",
                                                            "GLIBC_TUNABLES",
                                                            "LD_PRELOAD",
                                                            "LD_LIBRARY_PATH",
                                                            "PYTHONPATH",
                                                            "PYTHONHASHSEED",
                                                            "PYTHONUNBUFFERED",
                                                            "TOKENIZERS_",
                                                            "RAYON_",
                                                            "HF_"});
  std::map<std::string, std::string> settings;
  for (char** at = environ; at && *at; ++at) {
    const std::string_view row(*at);
    const std::size_t equals = row.find('=');
    if (equals == row.npos) continue;
    const std::string_view name = row.substr(0, equals);
    const bool counts =
        std::ranges::any_of(kStarts, [&](std::string_view s) { return name.starts_with(s); });
    const bool is_secret = name.find("TOKEN") != name.npos && !name.starts_with("TOKENIZERS_");
    if (counts && !is_secret) settings[std::string(name)] = row.substr(equals + 1);
  }
  return settings;
}

}  // namespace amdahl::app
