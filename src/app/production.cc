#include "app/production.h"

#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "model/codec.h"
#include "os/fault.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::app {
namespace {

constexpr int kMostTries = 10'000;  // Slots that others take at the same moment.
constexpr std::string_view kRecord = ".json";
constexpr Nanos kShowEvery = std::chrono::minutes(1);
constexpr Nanos kSilentFor = std::chrono::hours(1);
constexpr Nanos kMuteFor = std::chrono::hours(24 * 7);

std::string family_folder(const std::string& state_dir, const std::string& family) {
  return fmt::format("{}/canary/{}", state_dir, family);
}

int last_slot(const std::string& folder) {
  int last = -1;
  for (const std::string& name : os::list(folder)) {
    const auto slot = to_number<int>(name.substr(0, name.find('.')));
    if (slot) last = std::max(last, *slot);
  }
  return last;
}

// An existing record reserves the slot; the lock only guards its creation.
Result<> claim(const std::string& folder, ProductionRun& run) {
  TRY(os::make_dirs(folder));
  const int first = last_slot(folder) + 1;
  for (int slot = first; slot < first + kMostTries; ++slot) {
    const std::string path = fmt::format("{}/{:08}", folder, slot);
    std::optional<os::FileLock> lock = os::FileLock::try_take(path + ".lock");
    if (!lock || os::exists(path + std::string(kRecord))) continue;
    run.canary.slot = slot;
    run.record = path + std::string(kRecord);
    run.lock_file = path + ".lock";
    run.lock = std::move(lock);
    return Ok{};
  }
  return external(fmt::format("cannot reserve a slot in {}: is the folder writable?", folder));
}

// The utilisation is in the job's own usage record; here it would only be read for nothing.
Result<> write_record(const ProductionRun& run, model::Usage usage) {
  usage.canary = run.canary;
  usage.utilisation = {};
  usage.phases.clear();
  return os::write_file(run.record, dump_json(encode(usage)));
}

Result<model::Usage> read_record(const std::string& path) {
  const std::string text = TRY(os::read_file(path));
  return model::decode_text<model::Usage>(text).in(path);
}

model::Change change_without(const Production& production, const std::string& left_out) {
  model::Change change;
  for (const Production::Part& part : production.stack) {
    if (part.id != left_out) change = combine(change, part.change);
  }
  return change;
}

// The file in which a run shows that it is alive: Unix time in nanoseconds.
std::string alive_file(const std::string& record) {
  return record.substr(0, record.size() - kRecord.size()) + ".alive";
}

bool is_silent(const model::Usage& usage, const std::string& record, Nanos now) {
  const auto text = os::read_file(alive_file(record));
  const auto said = text ? to_number<std::int64_t>(trim(*text)) : std::nullopt;
  return said ? now - Nanos{*said} > kSilentFor : now - usage.start > kMuteFor;
}

canary::RunState state_of(const model::Usage& usage, const std::string& record, Nanos now) {
  if (usage.end > Nanos{}) return canary::RunState::kEnded;
  const std::string lock = record.substr(0, record.size() - kRecord.size()) + ".lock";
  const bool here = usage.host == os::host_name();
  const bool lost = here ? !os::FileLock::is_held(lock) : is_silent(usage, record, now);
  return lost ? canary::RunState::kLost : canary::RunState::kRunning;
}

}  // namespace

Result<Production> production_of(ledger::Ledger& ledger, const ledger::Family& family) {
  Production production;
  production.family = family.name;
  production.spec = family.spec;
  production.baseline = family.baseline;
  for (const std::string& id : family.stack) {
    production.stack.push_back({id, TRY(ledger.hypothesis(id)).hypothesis.change});
  }
  for (const ledger::CanaryRow& row : TRY(ledger.canaries(family.name))) {
    if (row.state == model::CanaryState::kOpen) production.canaries.push_back(row.canary);
  }
  return production;
}

std::string production_json(const Production& production) {
  Json stack = Json::array();
  for (const Production::Part& part : production.stack) {
    stack.push_back({{"id", part.id}, {"change", model::encode(part.change)}});
  }
  Json canaries = Json::array();
  for (const model::Canary& canary : production.canaries) {
    canaries.push_back(model::encode(canary));
  }
  return dump_json({{"family", production.family},
                    {"spec", model::encode(production.spec)},
                    {"baseline", model::encode(production.baseline)},
                    {"stack", std::move(stack)},
                    {"canaries", std::move(canaries)}});
}

Result<Production> read_production(std::string_view json) {
  const Json all = TRY(parse_json(json));
  const bool whole = all.is_object() && all.contains("family") && all["family"].is_string() &&
                     all.contains("spec") && all.contains("baseline") && all.contains("stack") &&
                     all.contains("canaries");
  if (!whole) return bad_input("expected family, spec, baseline, stack and canaries");
  Production production;
  production.family = all["family"].get<std::string>();
  production.spec = TRY(model::decode<model::Spec>(all["spec"]).in("/spec"));
  production.baseline = TRY(model::decode<model::Change>(all["baseline"]).in("/baseline"));
  for (const Json& part : all["stack"]) {
    if (!part.is_object() || !part.contains("id") || !part["id"].is_string() ||
        !part.contains("change")) {
      return bad_input("/stack: expected an id and a change each");
    }
    production.stack.push_back({part["id"].get<std::string>(),
                                TRY(model::decode<model::Change>(part["change"]).in("/stack"))});
  }
  for (const Json& canary : all["canaries"]) {
    production.canaries.push_back(TRY(model::decode<model::Canary>(canary).in("/canaries")));
  }
  return production;
}

Result<ProductionRun> begin_production(const std::string& state_dir, ledger::Ledger& ledger,
                                       const ledger::Family& family, model::Usage begun) {
  return begin_production(state_dir, TRY(production_of(ledger, family)), std::move(begun));
}

Result<ProductionRun> begin_production(const std::string& state_dir, const Production& production,
                                       model::Usage begun) {
  ProductionRun run;
  for (const Production::Part& part : production.stack) run.canary.changes.push_back(part.id);
  run.change = production.baseline;
  if (production.canaries.empty()) return run;

  const std::string host = os::host_name();
  TRY(claim(fmt::format("{}/{}", family_folder(state_dir, production.family), host), run));
  if (const auto left_out = canary::held_back(production.canaries, host, run.canary.slot)) {
    run.canary.held_back = *left_out;
    std::erase(run.canary.changes, *left_out);
    run.change = change_without(production, *left_out);
  }
  begun.family = production.family;
  begun.host = host;
  begun.end = Nanos{};
  begun.ending = "running";
  TRY(write_record(run, begun));
  os::fault_point("run.registered");
  return run;
}

void show_alive(ProductionRun& run, Nanos elapsed, Nanos now) {
  if (run.record.empty() || (run.shown && elapsed - *run.shown < kShowEvery)) return;
  run.shown = elapsed;
  // If it cannot be written now it may be in a minute; no job fails for that.
  static_cast<void>(os::write_file(alive_file(run.record), fmt::format("{}\n", now.count())));
}

Result<> leave_canaries(ProductionRun& run) {
  run.canary.changes.clear();
  run.canary.held_back.clear();
  if (run.record.empty()) return Ok{};
  return write_record(run, TRY(read_record(run.record)));
}

Result<> end_production(const ProductionRun& run, model::Usage ended) {
  if (run.record.empty()) return Ok{};
  TRY(write_record(run, std::move(ended)));
  std::error_code ignored;
  std::filesystem::remove(run.lock_file, ignored);
  std::filesystem::remove(alive_file(run.record), ignored);
  return Ok{};
}

WatchedRuns watched_runs(const std::string& state_dir, const std::string& family, Nanos now) {
  WatchedRuns watched;
  const std::string folder = family_folder(state_dir, family);
  for (const std::string& host : os::list(folder)) {
    for (const std::string& name : os::list(folder + "/" + host)) {
      if (!name.ends_with(kRecord)) continue;
      const std::string path = fmt::format("{}/{}/{}", folder, host, name);
      auto usage = read_record(path);
      if (!usage) {
        watched.unreadable.push_back(usage.error().text);
        continue;
      }
      const canary::RunState state = state_of(*usage, path, now);
      watched.runs.push_back({*std::move(usage), state});
    }
  }
  return watched;
}

}  // namespace amdahl::app
