#include "profile/wait_lines.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/offcpu.h"
#include "profile/roles.h"

namespace amdahl::profile {
namespace {

using model::BpfSummary;

constexpr std::size_t kShownSymbol = 60;

// Parts of the paths of what somebody else wrote.
constexpr auto kForeign =
    std::to_array<std::string_view>({"/site-packages/", "/dist-packages/", "/lib/python3",
                                     "/usr/include/", "/usr/lib/", "/usr/src/", "/usr/share/"});

template <class Site>
std::vector<StackLine> lines_in(const Site& site) {
  std::vector<StackLine> lines;
  for (const model::PythonFrame& frame : site.python) {
    if (!is_hook(frame)) lines.push_back({frame.file, frame.line, frame.function});
  }
  if (!lines.empty()) return lines;
  for (const model::WaitFrame& frame : site.frames) {
    const bool is_ours = frame.file.ends_with("/libamdahl_inject.so");
    if (frame.line > 0 && !is_ours) lines.push_back({frame.source, frame.line, frame.symbol});
  }
  return lines;
}

// Without what lies around a worker's loop: the lines of whoever forked it.
std::vector<StackLine> as_told(std::vector<StackLine> lines) {
  const auto loop = std::ranges::find_if(lines, [](const StackLine& line) {
    return line.file.find("/torch/utils/data/_utils/worker.py") != line.file.npos ||
           line.file.find("/multiprocessing/") != line.file.npos;
  });
  lines.erase(loop, lines.end());
  return lines;
}

// Seconds by line; a line that is in a stack twice counts once.
class Costs {
 public:
  void add(const std::vector<StackLine>& lines, double seconds) {
    std::set<StackLine> own;
    for (const StackLine& line : lines) {
      if (is_own_source(line.file)) own.insert(line);
    }
    for (const StackLine& line : own) seconds_[line] += seconds;
  }

  std::vector<LineCost> take(bool waits_only) const {
    std::vector<LineCost> costs;
    for (const auto& [line, seconds] : seconds_) {
      LineCost cost;
      cost.file = line.file;
      cost.line = line.line;
      cost.function = line.function;
      cost.in_steps = true;
      cost.waits_only = waits_only;
      cost.seconds = seconds;
      costs.push_back(std::move(cost));
    }
    std::ranges::stable_sort(costs, std::ranges::greater{}, &LineCost::seconds);
    return costs;
  }

 private:
  std::map<StackLine, double> seconds_;
};

}  // namespace

std::vector<StackLine> lines_of(const model::WaitSite& site) { return lines_in(site); }
std::vector<StackLine> lines_of(const model::RunSite& site) { return lines_in(site); }

bool is_hook(const model::PythonFrame& frame) {
  return frame.file.ends_with("/hook/sitecustomize.py") ||
         (frame.file.find("/hook/_amdahl_") != frame.file.npos && frame.file.ends_with(".py"));
}

bool is_own_source(const std::string& file) {
  if (!file.starts_with('/')) return false;
  return std::ranges::none_of(kForeign,
                              [&](std::string_view part) { return file.find(part) != file.npos; });
}

std::optional<StackLine> own_line(const std::vector<StackLine>& lines) {
  const auto found =
      std::ranges::find_if(lines, [](const StackLine& line) { return is_own_source(line.file); });
  if (found == lines.end()) return std::nullopt;
  return *found;
}

bool is_loading(const model::WaitSite& site) {
  if (!site.python.empty()) return std::ranges::any_of(site.python, is_import_machinery);
  return std::ranges::any_of(site.frames, [](const model::WaitFrame& frame) {
    return frame.symbol.starts_with("_dl_") || frame.symbol.starts_with("Py_Initialize") ||
           frame.file.find("/ld-linux") != frame.file.npos;
  });
}

bool is_import_machinery(const model::PythonFrame& frame) {
  return frame.file.starts_with("<frozen importlib");
}

bool is_backward(const model::WaitSite& site) {
  return std::ranges::any_of(site.python, [](const model::PythonFrame& frame) {
    return frame.function == "backward" && frame.file.find("/torch/autograd/") != frame.file.npos;
  });
}

bool is_collective(const model::WaitSite& site) {
  const auto is_its = [](const model::PythonFrame& frame) {
    return frame.file.find("/torch/distributed/") != frame.file.npos;
  };
  const auto meets = [](const model::PythonFrame& frame) {
    return frame.function == "init_process_group";
  };
  return std::ranges::any_of(site.python, is_its) && std::ranges::none_of(site.python, meets);
}

std::string show(const StackLine& line) {
  const std::string_view path = line.file;
  std::size_t slash = path.rfind('/');
  // The name alone says nothing of a package.
  if (path.ends_with("/__init__.py")) slash = path.rfind('/', slash - 1);
  const std::string_view name = path.substr(slash == path.npos ? 0 : slash + 1);
  return fmt::format("{}:{} ({})", name, line.line, clip(line.function, kShownSymbol));
}

std::map<std::int64_t, double> running_of(const BpfSummary& summary, Role role) {
  const std::vector<Role> roles = roles_of(summary);
  std::map<std::int64_t, double> threads;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const model::TaskWaits& task = summary.tasks[i];
    if (roles[i] == role) threads[task.tid] = to_seconds(task.running);
  }
  return threads;
}

std::vector<RanAt> ran_at(const BpfSummary& summary,
                          const std::map<std::int64_t, double>& threads) {
  std::map<std::int64_t, double> samples;
  for (const model::RunSite& site : summary.running) {
    samples[site.tid] += static_cast<double>(site.samples);
  }
  std::vector<RanAt> places;
  for (const model::RunSite& site : summary.running) {
    const auto thread = threads.find(site.tid);
    if (thread == threads.end() || site.samples <= 0) continue;
    const double share = static_cast<double>(site.samples) / samples[site.tid];
    places.push_back({site.tid, lines_of(site), share * thread->second});
  }
  return places;
}

std::vector<LineCost> line_costs(const BpfSummary& summary) {
  const auto steps = running_of(summary, Role::kStep);
  if (steps.empty()) return {};
  double threads = 1;
  for (const RoleWaits& role : waits_by_role(summary)) {
    if (role.role == Role::kStep) threads = role.at_once;
  }
  Costs costs;
  for (const model::WaitSite& site : summary.sites) {
    if (steps.contains(site.tid)) costs.add(lines_of(site), to_seconds(site.time) / threads);
  }
  const std::vector<RanAt> places = ran_at(summary, steps);
  for (const RanAt& place : places) costs.add(place.lines, place.seconds / threads);
  return costs.take(places.empty());
}

std::optional<LoaderLine> loader_line(const BpfSummary& summary) {
  const auto loaders = running_of(summary, Role::kLoader);
  std::map<StackLine, double> costs;
  double all = 0;
  for (const auto& [tid, seconds] : loaders) all += seconds;
  for (const model::WaitSite& site : summary.sites) {
    if (!loaders.contains(site.tid)) continue;
    const auto line = own_line(as_told(lines_of(site)));
    if (!line) continue;  // It waits for orders.
    costs[*line] += to_seconds(site.time);
    all += to_seconds(site.time);
  }
  for (const RanAt& place : ran_at(summary, loaders)) {
    if (const auto line = own_line(as_told(place.lines))) costs[*line] += place.seconds;
  }
  const auto most =
      std::ranges::max_element(costs, {}, [](const auto& cost) { return cost.second; });
  if (most == costs.end() || most->second <= 0) return std::nullopt;
  return LoaderLine{most->first, most->second, most->second / all};
}

}  // namespace amdahl::profile
