#include "app/doctor_ledger.h"

#include <array>
#include <chrono>
#include <filesystem>

#include <fmt/core.h>
#include <sys/vfs.h>

#include "app/store.h"
#include "base/count.h"
#include "base/text.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

constexpr Nanos kClockSlack = std::chrono::seconds(5);

Symptom ledger_file(const Config& config) {
  const std::string path = ledger_place(config);
  if (!os::exists(path)) return {"ledger", "absent", "none yet", "amdahl init"};
  const auto ledger = ledger::open_sqlite(path, {.create = false});
  if (!ledger) {
    return {"ledger", "missing", ledger.error().text,
            "do as it says, or name another with --state"};
  }
  return {"ledger", "ok", fmt::format("schema {}", (*ledger)->schema_version()),
          "amdahl ledger verify"};
}

// As statfs(2) numbers them: NFS, SMB, CIFS, Lustre, GPFS, Ceph, AFS, FUSE.
bool is_on_network(std::string folder) {
  constexpr auto kNetworks =
      std::to_array<long>({0x6969, 0x517B, static_cast<long>(0xFF534D42), 0x0BD00BD0, 0x47504653,
                           0x00C36400, 0x5346414F, 0x65735546});
  std::error_code failed;
  while (!std::filesystem::exists(folder, failed) && folder.size() > 1) {
    folder = std::filesystem::path(folder).parent_path().string();
  }
  struct statfs about {};
  if (::statfs(folder.c_str(), &about) != 0) return false;
  for (const long network : kNetworks) {
    if (static_cast<long>(about.f_type) == network) return true;
  }
  return false;
}

Symptom server(const Config& config, const Result<ledger::ServerState>& state) {
  if (!state) {
    const bool is_new = state.error().kind == Error::Kind::kNotFound;
    return {"ledger", is_new ? "absent" : "missing",
            fmt::format("{}: {}", config.ledger_url, state.error().text),
            is_new ? "amdahl init" : "check ledger.url, the network, and the file of PGPASSFILE"};
  }
  std::string detail = fmt::format("PostgreSQL {} at {}, {}", state->version, config.ledger_url,
                                   counted(state->events, "event"));
  if (!state->syncs) {
    return {"ledger", "missing", detail + "; its fsync is off: a power cut can lose events",
            "fsync = on in postgresql.conf"};
  }
  return {"ledger", "ok", std::move(detail), "amdahl ledger verify"};
}

Symptom replica(const Config& config, const ledger::ServerState& state) {
  const std::string path = server_place(config).replica;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (is_on_network(folder)) {
    return {"replica", "missing",
            folder + " is on a network file system, where SQLite cannot lock safely",
            "replica = \"FOLDER ON A LOCAL DISK\" under [ledger]"};
  }
  if (!os::exists(path)) return {"replica", "absent", "none yet: the next command makes it", ""};
  const std::int64_t behind = state.events - state.replica_events;
  if (behind < 0) {
    return {"replica", "missing",
            fmt::format("{} has {} that the server does not have", path, counted(-behind, "event")),
            "amdahl status says what to do"};
  }
  return {"replica", "ok",
          behind == 0 ? path + ", up to date"
                      : fmt::format("{}, {} behind; the next command fetches them", path,
                                    counted(behind, "event")),
          ""};
}

Symptom clock(const ledger::ServerState& state) {
  const Nanos off = std::chrono::abs(state.clock_ahead);
  if (off <= kClockSlack) return {"clock", "ok", "agrees with the server's", ""};
  return {"clock", "absent",
          fmt::format("{} {} the server's: the ledger uses the server's", show_duration(off),
                      state.clock_ahead > Nanos{} ? "ahead of" : "behind"),
          "apt-get install chrony"};
}

}  // namespace

std::vector<Symptom> examine_ledger(const Config& config) {
  if (!is_shared(config)) return {ledger_file(config)};
  const Result<ledger::ServerState> state = ledger::server_state(server_place(config));
  std::vector<Symptom> all{server(config, state)};
  if (state) {
    all.push_back(replica(config, *state));
    all.push_back(clock(*state));
  }
  const std::string unused = config.state_dir + "/ledger.db";
  if (os::exists(unused)) {
    all.push_back({"unused ledger", "absent", unused + " is not used, because ledger.url is set",
                   fmt::format("amdahl ledger copy {} {}", unused, config.ledger_url)});
  }
  return all;
}

}  // namespace amdahl::app
