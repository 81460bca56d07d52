#include "observe/fixes.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "os/files.h"
#include "os/left.h"

namespace amdahl {
std::span<const Embedded> embedded_hook();
std::span<const Embedded> embedded_fixes();
std::span<const Embedded> embedded_preload();
}  // namespace amdahl

namespace amdahl::observe {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPlaces = 5;
constexpr std::size_t kPlaceLength = 160;

std::string text_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

// One process's account of one fix.
void add_account(const Json& json, model::Engagement& engagement) {
  if (!json.is_object()) return;
  if (const auto times = json.find("times"); times != json.end() && times->is_number_integer()) {
    engagement.times += std::max<std::int64_t>(0, times->get<std::int64_t>());
  }
  if (engagement.refused.empty()) {
    engagement.refused = std::string(clip(text_in(json, "refused"), kPlaceLength));
  }
  const auto where = json.find("where");
  if (where == json.end() || !where->is_array()) return;
  for (const Json& place : *where) {
    if (!place.is_string() || engagement.where.size() >= kPlaces) continue;
    std::string text(clip(place.get<std::string>(), kPlaceLength));
    if (std::ranges::find(engagement.where, text) == engagement.where.end()) {
      engagement.where.push_back(std::move(text));
    }
  }
}

// What the processes of a run wrote.
std::vector<Json> accounts_in(const std::string& folder) {
  std::vector<Json> processes;
  for (const std::string& name : os::list(folder)) {
    if (!name.ends_with(".json")) continue;
    const auto text = os::read_left(folder + "/" + name);
    auto json = text ? parse_json(*text) : Result<Json>(text.error());
    if (json && json->is_object()) processes.push_back(*std::move(json));
  }
  return processes;
}

std::string why_idle(const model::Engagement& engagement, bool any_process, bool is_native) {
  if (!engagement.refused.empty()) return engagement.refused;
  if (any_process) return "the job never runs the code that it changes";
  return is_native
             ? "no process of the job runs the code that it changes (programs that are linked "
               "statically cannot load it)"
             : "no Python process of the job loaded it (python -I, -E and -S ignore "
               "PYTHONPATH)";
}

}  // namespace

Result<> unpack(std::span<const Embedded> files, const std::string& folder) {
  for (const Embedded& file : files) {
    const std::string path = folder + "/" + std::string(file.path);
    TRY(os::make_dirs(fs::path(path).parent_path().string()));
    TRY(os::write_file(path, file.bytes));
  }
  return Ok{};
}

std::vector<std::string> fix_names() {
  std::vector<std::string> names;
  for (const Embedded& file : embedded_fixes()) {
    names.emplace_back(file.path.substr(0, file.path.find('/')));
    if (is_ceiling(names.back())) names.pop_back();
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool is_ceiling(std::string_view fix) { return fix.starts_with("ceiling-"); }

Result<> write_hook(const std::string& folder) {
  TRY(unpack(embedded_hook(), folder));
  TRY(unpack(embedded_preload(), folder));
  return unpack(embedded_fixes(), folder + "/fixes");
}

bool needs_preload(const std::map<std::string, std::string>& inject) {
  return std::ranges::any_of(embedded_fixes(), [&](const Embedded& file) {
    const std::size_t slash = file.path.find('/');
    return file.path.ends_with(".cpp") && inject.contains(std::string(file.path.substr(0, slash)));
  });
}

std::map<std::string, std::string> fix_variables(const std::map<std::string, std::string>& inject,
                                                 const std::string& out_dir) {
  return {{"AMDAHL_FIXES", dump_json(Json(inject))}, {"AMDAHL_FIXES_OUT", out_dir + "/fixes"}};
}

void take_engagements(const RunOrder& order, model::Receipt& receipt) {
  if (order.plan.inject.empty()) return;
  const std::vector<Json> processes = accounts_in(order.out_dir + "/fixes");
  for (const auto& [fix, value] : order.plan.inject) {
    model::Engagement engagement;
    engagement.fix = fix;
    for (const Json& process : processes) {
      if (const auto found = process.find(fix); found != process.end())
        add_account(*found, engagement);
    }
    const bool void_of_it = engagement.times == 0 && succeeded(receipt);
    if (void_of_it && receipt.never_runs == model::NeverRuns::kNo) {
      receipt.never_runs = model::NeverRuns::kDidNotEngage;
      receipt.reason =
          fmt::format("{}: {}: {}", name(receipt.never_runs), fix,
                      why_idle(engagement, !processes.empty(), needs_preload({{fix, value}})));
    }
    receipt.injected.push_back(std::move(engagement));
  }
}

double fixes_cost(const std::string& out_dir) {
  double most = 0;
  for (const Json& process : accounts_in(out_dir + "/fixes")) {
    const auto cost = process.find("cost_s");
    if (cost != process.end() && cost->is_number()) most = std::max(most, cost->get<double>());
  }
  return most;
}

}  // namespace amdahl::observe
