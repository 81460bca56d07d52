#include "app/store.h"

#include <chrono>
#include <filesystem>

#include <fmt/core.h>
#include <unistd.h>

#include "app/context.h"
#include "base/hash.h"
#include "ledger/event.h"
#include "os/files.h"
#include "os/host.h"
#include "os/private.h"

namespace amdahl::app {
namespace {

constexpr Nanos kToCopy = std::chrono::hours(1);
constexpr std::size_t kDigits = 12;

bool is_address(const std::string& place) {
  return place.starts_with("postgresql://") || place.starts_with("postgres://");
}

// No two machines and no two servers share a file, even if the folder is on a shared disk.
std::string replica_name(const std::string& url) {
  return fmt::format("{}-{}.db", os::host_name(), sha256_hex(url).substr(0, kDigits));
}

// SQLite would make it for all to read.
Result<> make_file(const std::string& path) {
  TRY(make_state(std::filesystem::path(path).parent_path().string()));
  return os::make_private_file(path);
}

// A ledger for a copy, and the folder of its replica, which goes with it.
struct Opened {
  Opened() = default;
  Opened(Opened&& other) noexcept
      : ledger{std::move(other.ledger)}, folder{std::exchange(other.folder, "")} {}
  Opened& operator=(Opened&&) = delete;
  ~Opened() {
    ledger.reset();
    std::error_code ignored;
    if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
  }
  std::unique_ptr<ledger::Ledger> ledger;
  std::string folder;
};

// A replica of its own: the one of this machine may be what is copied.
Result<Opened> open_place(const Config& config, const std::string& place, bool create) {
  Opened opened;
  if (!is_address(place)) {
    if (create) TRY(make_file(place));
    opened.ledger = TRY(ledger::open_sqlite(place, {.create = create}));
    return opened;
  }
  opened.folder = fmt::format("{}/replicas/copy-{}", config.state_dir, os::random_hex(8));
  const std::string replica = opened.folder + "/" + replica_name(place);
  TRY(make_file(replica));
  opened.ledger = TRY(ledger::open_postgres({place, replica, from_seconds(config.ledger_wait_s)},
                                            {.create = create}));
  return opened;
}

Result<> check_sound(ledger::Ledger& ledger, const std::string& place) {
  const ledger::VerifyReport report = TRY(ledger.verify().in(place));
  if (report.ok()) return Ok{};
  return Error{Error::Kind::kConflict,
               fmt::format("{}: {}", place,
                           report.bad_event != 0
                               ? fmt::format("event {} does not match its hash", report.bad_event)
                               : report.differences.front())};
}

// Holds the lease of what is copied.
class CopyLease {
 public:
  static Result<std::unique_ptr<CopyLease>> take(ledger::Ledger& ledger) {
    const auto info =
        TRY(ledger.take_lease(fmt::format("pid {}", ::getpid()), os::host_name(), kToCopy));
    return std::unique_ptr<CopyLease>(new CopyLease(ledger, info.token));
  }
  ~CopyLease() { static_cast<void>(ledger_.release_lease(token_)); }
  CopyLease(const CopyLease&) = delete;
  CopyLease& operator=(const CopyLease&) = delete;

 private:
  CopyLease(ledger::Ledger& ledger, std::int64_t token) : ledger_{ledger}, token_{token} {}

  ledger::Ledger& ledger_;
  std::int64_t token_;
};

}  // namespace

bool is_shared(const Config& config) { return !config.ledger_url.empty(); }

std::string ledger_place(const Config& config) {
  return is_shared(config) ? config.ledger_url : config.state_dir + "/ledger.db";
}

ledger::ServerPlace server_place(const Config& config) {
  const std::string folder =
      config.ledger_replica.empty() ? config.state_dir + "/replicas" : config.ledger_replica;
  return {config.ledger_url, folder + "/" + replica_name(config.ledger_url),
          from_seconds(config.ledger_wait_s)};
}

Result<std::unique_ptr<ledger::Ledger>> open_ledger(const Config& config, bool create) {
  if (is_shared(config)) {
    const ledger::ServerPlace place = server_place(config);
    TRY(make_file(place.replica));
    return ledger::open_postgres(place, {.create = create});
  }
  const std::string path = ledger_place(config);
  if (!create && !os::exists(path)) {
    return Error{Error::Kind::kNotFound,
                 fmt::format("there is no ledger in {}; type: amdahl init", config.state_dir)};
  }
  if (create) TRY(make_file(path));
  return ledger::open_sqlite(path, {.create = create});
}

Result<std::unique_ptr<ledger::Ledger>> find_ledger(const Config& config) {
  auto opened = open_ledger(config, false);
  if (!opened && opened.error().kind == Error::Kind::kNotFound) {
    return std::unique_ptr<ledger::Ledger>();
  }
  return opened;
}

Result<CopiedLedger> copy_ledger(const Config& config, const std::string& from,
                                 const std::string& to) {
  if (from == to) return bad_input("a ledger cannot be copied onto itself");
  const Opened source = TRY(open_place(config, from, false));
  const std::unique_ptr<CopyLease> lease = TRY(CopyLease::take(*source.ledger));
  TRY(check_sound(*source.ledger, from));
  const Opened target = TRY(open_place(config, to, true));
  CopiedLedger done;
  done.copied = TRY(ledger::copy_events(*source.ledger, *target.ledger));
  TRY(check_sound(*target.ledger, to));
  const auto last = TRY(target.ledger->events("", 0, 1));
  if (!last.empty()) {
    done.events = last.front().seq;
    done.hash = last.front().hash;
  }
  return done;
}

}  // namespace amdahl::app
