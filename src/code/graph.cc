#include "code/graph.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "base/text.h"

namespace amdahl::code {
namespace {

constexpr auto kPythonLaunches = std::to_array<std::string_view>(
    {"model", "net", "network", "forward", "backward", "predict", "generate"});
constexpr auto kCppLaunches = std::to_array<std::string_view>(
    {"clEnqueue", "cudaLaunch", "cuLaunch", "hipLaunch", "hipModuleLaunch", "cudaGraphLaunch",
     "cublas", "cudnn", "cblas_", "hipblas", "rocblas", "nccl", "<<<", "forward", "Run",
     "execute"});
constexpr auto kLoaderFunctions =
    std::to_array<std::string_view>({"__getitem__", "__getitems__", "collate", "collate_fn"});
// Methods too common for their name to mean anything: matched only if the variable is named like
// the class.
constexpr auto kCommon = std::to_array<std::string_view>(
    {"write",  "read",   "close",     "open",         "append", "get",  "set",   "update",
     "items",  "keys",   "join",      "split",        "add",    "pop",  "flush", "copy",
     "extend", "insert", "remove",    "sort",         "format", "size", "begin", "end",
     "data",   "reset",  "push_back", "emplace_back", "clear",  "wait", "load",  "save"});
// Loops of these are over before the first step.
constexpr auto kBefore = std::to_array<std::string_view>(
    {"__init__", "init", "setup", "set_up", "warm", "calibrate", "make_", "build", "create_"});
constexpr auto kLoaderWords = std::to_array<std::string_view>({"loader", "Loader", "batches"});

bool holds_any(std::string_view text, std::span<const std::string_view> words) {
  // Long texts are chains of calls; what matters is at either end.
  constexpr std::size_t kMost = 200;
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.substr(0, kMost).find(word) != text.npos; });
}

bool is_launch(Language language, const Site& site) {
  if (site.kind != SiteKind::kCall) return false;
  if (language == Language::kCpp) {
    return std::ranges::any_of(kCppLaunches,
                               [&](std::string_view word) { return site.name.starts_with(word); });
  }
  if (std::ranges::find(kPythonLaunches, site.name) != kPythonLaunches.end()) return true;
  if (site.name.ends_with("_model")) return true;
  return site.name == "step" && holds_any(site.receiver, std::array{std::string_view("optim")});
}

// A loop that takes batches: `for x in loader`, or next(batches) in its body.
bool takes_batches(Language language, const Site& site) {
  if (language != Language::kPython || site.kind != SiteKind::kCall || site.name != "next") {
    return false;
  }
  return !site.arguments.empty() && holds_any(site.arguments.front().text, kLoaderWords);
}

// All sources' functions in one row of numbers.
class Graph {
 public:
  explicit Graph(const std::vector<Facts>& sources) : sources_(sources) {
    for (const Facts& facts : sources) {
      first_.push_back(count_);
      for (std::size_t i = 0; i < facts.functions.size(); ++i) {
        const Function& function = facts.functions[i];
        add(by_name_[function.name], count_ + i);
        if (function.name == "__init__") add(constructors_[function.owner], count_ + i);
        owners_.push_back(function.owner);
      }
      count_ += facts.functions.size();
    }
  }

  std::size_t size() const { return count_; }
  std::size_t number(std::size_t source, int function) const {
    return first_[source] + static_cast<std::size_t>(function);
  }

  // The functions that a call may run.
  std::vector<std::size_t> called(std::size_t source, const Site& site) const {
    if (site.kind != SiteKind::kCall) return {};
    const Facts& facts = sources_[source];
    std::vector<std::size_t> found;
    const auto add = [&](const auto& table, std::string_view name, auto keep) {
      const auto at = table.find(name);
      if (at == table.end()) return;
      std::ranges::copy_if(at->second, std::back_inserter(found), keep);
    };
    // A base class's constructor has every class's name for it.
    if (site.receiver.starts_with("super(")) return {};
    const bool is_common = std::ranges::find(kCommon, site.name) != kCommon.end();
    const std::string to = is_common ? plain(site.receiver) : std::string{};
    const auto is_ours = [&](std::size_t i) {
      return !is_common || (owners_[i].empty() ? site.receiver.empty() : is_like(to, owners_[i]));
    };
    if (facts.language == Language::kCpp) {
      add(by_name_, site.name, is_ours);
      return found;
    }
    const std::string_view root = site.callee.substr(0, site.callee.find_first_of(".([ "));
    if (!site.receiver.empty() && facts.modules.contains(root)) {
      // A function of a module that is among the sources: report.write().
      add(by_name_, site.name, [&](std::size_t i) { return owners_[i].empty(); });
      return found;
    }
    const bool method = !site.receiver.empty();
    add(by_name_, site.name,
        [&](std::size_t i) { return owners_[i].empty() != method && is_ours(i); });
    if (!method) add(constructors_, site.name, [](std::size_t) { return true; });
    // Calling a module runs its forward().
    if (is_launch(facts.language, site)) {
      add(by_name_, "forward", [](std::size_t) { return true; });
    }
    return found;
  }

 private:
  // The last word of a receiver, in small letters and without what members end in.
  static std::string plain(std::string_view receiver) {
    constexpr std::size_t kLongest = 60;
    if (receiver.size() > kLongest) receiver.remove_prefix(receiver.size() - kLongest);
    if (const auto at = receiver.find_last_of(".>"); at != receiver.npos) {
      receiver.remove_prefix(at + 1);
    }
    while (receiver.ends_with('_')) receiver.remove_suffix(1);
    return lower(receiver);
  }

  static bool is_like(const std::string& variable, std::string_view owner) {
    const std::string type = lower(owner.substr(0, 60));
    return variable == "self" || variable == "this" ||
           (variable.size() >= 3 && type.find(variable) != type.npos);
  }

  // A name shared by very many functions means nothing, and would cost quadratic time.
  static void add(std::vector<std::size_t>& functions, std::size_t function) {
    constexpr std::size_t kMost = 64;
    if (functions.size() < kMost) functions.push_back(function);
  }

  const std::vector<Facts>& sources_;
  std::vector<std::size_t> first_;
  std::size_t count_ = 0;
  std::map<std::string_view, std::vector<std::size_t>> by_name_;
  std::map<std::string_view, std::vector<std::size_t>> constructors_;
  std::vector<std::string_view> owners_;
};

class Finder {
 public:
  explicit Finder(const std::vector<Facts>& sources) : sources_(sources), graph_(sources) {
    callees_.resize(graph_.size());
    for_each_site([&](std::size_t source, const Site& site) {
      if (site.function < 0) return;
      auto& to = callees_[graph_.number(source, site.function)];
      for (const std::size_t callee : graph_.called(source, site)) to.push_back(callee);
    });
    for (auto& to : callees_) {
      std::ranges::sort(to);
      to.erase(std::unique(to.begin(), to.end()), to.end());
    }
  }

  StepMap find() {
    find_launching();
    find_step_loops();
    StepMap step_map;
    step_map.has_step_loop = has_step_loop_;
    const auto loops = reached([&](std::size_t, const Site& site) { return site.loop >= 0; });
    const auto steps =
        reached([&](std::size_t source, const Site& site) { return in_step_loop(source, site); });
    const auto loader = reached_from_loader();
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      auto& row = step_map.sites.emplace_back();
      auto& launching = step_map.launches.emplace_back();
      for (const Site& site : sources_[i].sites) {
        launching.push_back(launches(i, site));
        const auto is_in = [&](const std::vector<bool>& set) {
          return site.function >= 0 && set[graph_.number(i, site.function)];
        };
        const bool is_looped = site.loop >= 0 || is_in(loops);
        row.push_back(in_step_loop(i, site) || is_in(steps) || (is_looped && all_loops(i))
                          ? HowOften::kStep
                      : is_in(loader) ? HowOften::kLoader
                      : is_looped     ? HowOften::kLoop
                                      : HowOften::kOnce);
      }
    }
    step_map.step_loops = std::move(step_loops_);
    return step_map;
  }

 private:
  template <class Each>
  void for_each_site(Each each) const {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      for (const Site& site : sources_[i].sites) each(i, site);
    }
  }

  // All that `start` reaches, itself included.
  std::vector<bool> closure(std::vector<std::size_t> start) const {
    std::vector<bool> in(graph_.size(), false);
    while (!start.empty()) {
      const std::size_t at = start.back();
      start.pop_back();
      if (in[at]) continue;
      in[at] = true;
      for (const std::size_t next : callees_[at]) start.push_back(next);
    }
    return in;
  }

  template <class Keep>
  std::vector<bool> reached(Keep keep) const {
    std::vector<std::size_t> start;
    for_each_site([&](std::size_t source, const Site& site) {
      if (!keep(source, site)) return;
      for (const std::size_t callee : graph_.called(source, site)) start.push_back(callee);
    });
    return closure(std::move(start));
  }

  std::vector<bool> reached_from_loader() const {
    std::vector<std::size_t> start;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (sources_[i].language != Language::kPython) continue;
      for (std::size_t f = 0; f < sources_[i].functions.size(); ++f) {
        const Function& function = sources_[i].functions[f];
        if (std::ranges::find(kLoaderFunctions, function.name) == kLoaderFunctions.end()) continue;
        start.push_back(graph_.number(i, static_cast<int>(f)));
      }
    }
    return closure(std::move(start));
  }

  // The functions that reach the model or a launch: backwards from those that have one.
  void find_launching() {
    std::vector<std::vector<std::size_t>> callers(graph_.size());
    for (std::size_t i = 0; i < callees_.size(); ++i) {
      for (const std::size_t callee : callees_[i]) callers[callee].push_back(i);
    }
    launching_.assign(graph_.size(), false);
    std::vector<std::size_t> start;
    for_each_site([&](std::size_t source, const Site& site) {
      if (site.function < 0 || !is_launch(sources_[source].language, site)) return;
      start.push_back(graph_.number(source, site.function));
    });
    while (!start.empty()) {
      const std::size_t at = start.back();
      start.pop_back();
      if (launching_[at]) continue;
      launching_[at] = true;
      for (const std::size_t caller : callers[at]) start.push_back(caller);
    }
  }

  bool launches(std::size_t source, const Site& site) const {
    if (is_launch(sources_[source].language, site)) return true;
    return std::ranges::any_of(graph_.called(source, site),
                               [&](std::size_t callee) { return launching_[callee]; });
  }

  void find_step_loops() {
    std::vector<std::vector<bool>> over_batches;
    std::vector<std::vector<bool>> launching;
    bool any_batches = false;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const Facts& facts = sources_[i];
      over_batches.emplace_back(facts.loops.size(), false);
      launching.emplace_back(facts.loops.size(), false);
      for (std::size_t l = 0; l < facts.loops.size(); ++l) {
        over_batches[i][l] =
            facts.language == Language::kPython && holds_any(facts.loops[l].over, kLoaderWords);
      }
      for (const Site& site : facts.sites) mark(i, site, over_batches[i], launching[i]);
      // Looking at batches is not enough: something must be computed from them.
      for (std::size_t l = 0; l < facts.loops.size(); ++l) {
        over_batches[i][l] = over_batches[i][l] && launching[i][l];
        any_batches = any_batches || over_batches[i][l];
      }
    }
    step_loops_ = any_batches ? std::move(over_batches) : std::move(launching);
    if (!any_batches) leave_out_set_up();
    for (const auto& row : step_loops_) {
      has_step_loop_ = has_step_loop_ || std::ranges::find(row, true) != row.end();
    }
  }

  // Loops in constructors and similar code also launch, but before the first step. They count only
  // if there is nothing else.
  void leave_out_set_up() {
    auto kept = step_loops_;
    bool any = false;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      for (std::size_t l = 0; l < kept[i].size(); ++l) {
        if (!kept[i][l]) continue;
        kept[i][l] = !is_set_up(sources_[i], sources_[i].loops[l].function);
        any = any || kept[i][l];
      }
    }
    if (any) step_loops_ = std::move(kept);
  }

  static bool is_set_up(const Facts& facts, int function) {
    if (function < 0) return false;
    const Function& in = facts.functions[static_cast<std::size_t>(function)];
    if (!in.owner.empty() && in.name == in.owner) return true;
    return std::ranges::any_of(kBefore,
                               [&](std::string_view word) { return in.name.starts_with(word); });
  }

  // Updates the loops around a site. Only the innermost one takes a batch.
  void mark(std::size_t source, const Site& site, std::vector<bool>& over_batches,
            std::vector<bool>& launching) const {
    if (site.loop < 0) return;
    const Facts& facts = sources_[source];
    const auto innermost = static_cast<std::size_t>(site.loop);
    if (takes_batches(facts.language, site)) over_batches[innermost] = true;
    if (launching[innermost] || !launches(source, site)) return;
    for (int loop = site.loop; loop >= 0;) {
      launching[static_cast<std::size_t>(loop)] = true;
      loop = facts.loops[static_cast<std::size_t>(loop)].parent;
    }
  }

  // A C++ program without launches computes in its own loops.
  bool all_loops(std::size_t source) const {
    return !has_step_loop_ && sources_[source].language == Language::kCpp;
  }

  bool in_step_loop(std::size_t source, const Site& site) const {
    const Facts& facts = sources_[source];
    for (int loop = site.loop; loop >= 0;) {
      if (step_loops_[source][static_cast<std::size_t>(loop)]) return true;
      loop = facts.loops[static_cast<std::size_t>(loop)].parent;
    }
    return false;
  }

  const std::vector<Facts>& sources_;
  Graph graph_;
  std::vector<std::vector<std::size_t>> callees_;
  std::vector<bool> launching_;
  std::vector<std::vector<bool>> step_loops_;
  bool has_step_loop_ = false;
};

}  // namespace

std::string_view name(HowOften how_often) {
  switch (how_often) {
    case HowOften::kOnce:
      return "once";
    case HowOften::kLoop:
      return "in a loop";
    case HowOften::kLoader:
      return "for each item";
    case HowOften::kStep:
      break;
  }
  return "in the step loop";
}

StepMap step_map_of(const std::vector<Facts>& sources) { return Finder(sources).find(); }

}  // namespace amdahl::code
