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

constexpr int kMostTries = 10'000;  // Seats that others take at the same moment.
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

// The record, once it is there, keeps the seat taken; the lock only guards the making of it.
Result<> claim(const std::string& folder, Seat& seat) {
  TRY(os::make_dirs(folder));
  const int first = last_slot(folder) + 1;
  for (int slot = first; slot < first + kMostTries; ++slot) {
    const std::string path = fmt::format("{}/{:08}", folder, slot);
    std::optional<os::FileLock> lock = os::FileLock::try_take(path + ".lock");
    if (!lock || os::exists(path + std::string(kRecord))) continue;
    seat.run.slot = slot;
    seat.record = path + std::string(kRecord);
    seat.lock_file = path + ".lock";
    seat.lock = std::move(lock);
    return Ok{};
  }
  return external(fmt::format("no seat can be taken in {}; may we write there?", folder));
}

// The utilisation is in the job's own usage record; here it would only be read for nothing.
Result<> write_record(const Seat& seat, model::Usage usage) {
  usage.canary = seat.run;
  usage.utilisation = {};
  usage.phases.clear();
  return os::write_file(seat.record, dump_json(encode(usage)));
}

Result<model::Usage> read_record(const std::string& path) {
  const std::string text = TRY(os::read_file(path));
  return model::decode_text<model::Usage>(text).in(path);
}

Result<model::Change> change_without(ledger::Ledger& ledger, const ledger::Family& family,
                                     const std::string& left_out) {
  model::Change change;
  for (const std::string& id : family.stack) {
    if (id == left_out) continue;
    change = combine(change, TRY(ledger.hypothesis(id)).hypothesis.change);
  }
  return change;
}

// Where a run says that it goes on: the Unix time in nanoseconds.
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

Result<Seat> take_seat(const std::string& state_dir, ledger::Ledger& ledger,
                       const ledger::Family& family, model::Usage begun) {
  Seat seat;
  seat.run.changes = family.stack;
  seat.change = family.baseline;
  std::vector<model::Canary> open;
  for (const ledger::CanaryRow& row : TRY(ledger.canaries(family.name))) {
    if (row.state == model::CanaryState::kOpen) open.push_back(row.canary);
  }
  if (open.empty()) return seat;

  const std::string host = os::host_name();
  TRY(claim(fmt::format("{}/{}", family_folder(state_dir, family.name), host), seat));
  if (const auto left_out = canary::held_back(open, host, seat.run.slot)) {
    seat.run.held_back = *left_out;
    std::erase(seat.run.changes, *left_out);
    seat.change = TRY(change_without(ledger, family, *left_out));
  }
  begun.family = family.name;
  begun.host = host;
  begun.end = Nanos{};
  begun.ending = "running";
  TRY(write_record(seat, begun));
  os::fault_point("run.seated");
  return seat;
}

void show_alive(Seat& seat, Nanos elapsed, Nanos now) {
  if (seat.record.empty() || (seat.shown && elapsed - *seat.shown < kShowEvery)) return;
  seat.shown = elapsed;
  // If it cannot be written now it may be in a minute; no job fails for that.
  static_cast<void>(os::write_file(alive_file(seat.record), fmt::format("{}\n", now.count())));
}

Result<> give_up_seat(Seat& seat) {
  seat.run.changes.clear();
  seat.run.held_back.clear();
  if (seat.record.empty()) return Ok{};
  return write_record(seat, TRY(read_record(seat.record)));
}

Result<> leave_seat(const Seat& seat, model::Usage ended) {
  if (seat.record.empty()) return Ok{};
  TRY(write_record(seat, std::move(ended)));
  std::error_code ignored;
  std::filesystem::remove(seat.lock_file, ignored);
  std::filesystem::remove(alive_file(seat.record), ignored);
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
