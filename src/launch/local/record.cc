#include "launch/local/record.h"

#include <filesystem>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "launch/launcher.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"
#include "os/left.h"
#include "os/lock.h"

namespace amdahl::launch::local {
namespace {

namespace fs = std::filesystem;

// A worker takes its claim within a moment of its start.
constexpr Nanos kStartsWithin = std::chrono::seconds(10);

// Of a file that the worker leaves.
struct Mark {
  pid_t pid = 0;
  std::string host;
  std::string boot_id;
  Nanos monotonic{};  // 0 where an older worker wrote it.
  Nanos at{};
};

std::optional<Mark> mark_in(const std::string& path) {
  const auto text = os::read_left(path);
  const auto json = text ? parse_json(*text) : Result<Json>(bad_input(""));
  if (!json || !json->is_object()) return std::nullopt;
  try {
    return Mark{json->value("pid", pid_t{0}), json->value("host", ""), json->value("boot_id", ""),
                Nanos{json->value("monotonic_ns", std::int64_t{0})},
                Nanos{json->value("at", std::int64_t{0})}};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::optional<Nanos> not_negative(Nanos time) {
  return time < Nanos{0} ? std::nullopt : std::optional(time);
}

}  // namespace

std::optional<Owner> owner_of(const RunFolder& folder) {
  const auto text = os::read_left(folder.request());
  const auto json = text ? parse_json(*text) : Result<Json>(bad_input(""));
  const auto request = json ? decode_request(*json) : Result<PairRequest>(bad_input(""));
  if (!request) return std::nullopt;
  return Owner{request->ledger, request->ticket, longest_arms(*request), longest_run(*request),
               most_accelerators(*request)};
}

bool is_used(const RunFolder& folder) {
  return os::exists(folder.request()) || os::exists(folder.started()) || os::exists(folder.done());
}

bool has_begun(const RunFolder& folder) {
  return os::exists(folder.started()) || os::exists(folder.cancelled());
}

std::optional<pid_t> living_worker(const RunFolder& folder) {
  const auto started = mark_in(folder.started());
  if (!started || started->pid <= 0 || started->boot_id != os::boot_id()) return std::nullopt;
  if (!os::FileLock::is_held(folder.claim())) return std::nullopt;
  return started->pid;
}

Submissions handed_over(const RunFolder& folder) {
  Submissions handed;
  const auto text = os::read_left(folder.handed());
  if (!text) return handed;
  std::optional<Nanos> first;
  for (const std::string_view line : split(trim(*text), '\n')) {
    const auto space = line.find(' ');
    if (space == line.npos) continue;
    const auto at = to_number<std::int64_t>(line.substr(space + 1));
    if (++handed.times == 1 && at && line.substr(0, space) == os::boot_id()) first = Nanos{*at};
  }
  if (handed.times == 0) return handed;
  handed.since = first ? not_negative(os::real_clock().monotonic() - *first) : std::nullopt;
  return handed;
}

bool is_starting(const Submissions& handed) {
  return handed.times > 0 && handed.since && *handed.since < handed.times * kStartsWithin;
}

Result<> note_handing_over(const RunFolder& folder) {
  const auto before = os::read_left(folder.handed());
  return os::write_file(folder.handed(),
                        fmt::format("{}{} {}\n", before ? *before : "", os::boot_id(),
                                    os::real_clock().monotonic().count()));
}

std::optional<Nanos> time_taken(const RunFolder& folder) {
  const auto started = mark_in(folder.started());
  if (!started) return handed_over(folder).since;
  const auto done = mark_in(folder.done());
  const bool same_clock = started->boot_id == os::boot_id() && started->monotonic > Nanos{0};
  if (done && done->monotonic > Nanos{0} && started->monotonic > Nanos{0}) {
    return not_negative(done->monotonic - started->monotonic);
  }
  if (done) return not_negative(done->at - started->at);
  if (same_clock) return not_negative(os::real_clock().monotonic() - started->monotonic);
  if (started->host == os::host_name()) return std::nullopt;  // This host has rebooted since.
  return not_negative(os::real_clock().unix_time() - started->at);
}

Result<> move_aside(const RunFolder& folder) {
  const auto owner = owner_of(folder);
  const std::string whose =
      owner && !owner->ledger.empty() ? "ledger " + owner->ledger : std::string("another ledger");
  // After done.json the worker only has to exit.
  if (os::FileLock::is_held(folder.claim()) && !os::exists(folder.done())) {
    return Error{
        Error::Kind::kConflict,
        fmt::format("{} is in use by a run of {}; wait until it ends, or use another folder "
                    "with --state",
                    folder.path, whose)};
  }
  const fs::path path(folder.path);
  const std::string aside = (path.parent_path() / ".aside").string();
  TRY(os::make_dirs(aside));
  const std::string to =
      fmt::format("{}/{}-{}", aside, path.filename().string(), os::random_hex(8));
  std::error_code error;
  fs::rename(path, to, error);
  if (error) return external(fmt::format("{}: cannot move: {}", folder.path, error.message()));
  return Ok{};
}

}  // namespace amdahl::launch::local
