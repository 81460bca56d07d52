#include "app/work.h"

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "app/ask_folder.h"
#include "app/pairs.h"
#include "base/text.h"
#include "ledger/ledger.h"
#include "os/fault.h"
#include "os/files.h"
#include "os/host.h"
#include "os/lock.h"

namespace amdahl::app {
namespace {

namespace fs = std::filesystem;

constexpr Nanos kLease = std::chrono::seconds(20);
constexpr Nanos kRenewEvery = std::chrono::seconds(4);
constexpr Nanos kUnclaimed = std::chrono::seconds(10);
constexpr Nanos kLookEvery = std::chrono::milliseconds(200);
constexpr int kMostClaims = 3;
constexpr int kMostConflictTries = 3;
constexpr std::string_view kHelpers = "/helpers";
constexpr std::string_view kClaim = "claim.";

std::string_view name(Piece::Kind kind) { return kind == Piece::Kind::kAsk ? "ask" : "collect"; }

Json json_in(const std::string& path) {
  const auto text = os::read_file(path);
  const auto json = text ? parse_json(*text) : Result<Json>(text.error());
  return json && json->is_object() ? *json : Json::object();
}

std::optional<std::int64_t> whole(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_number_integer()) return std::nullopt;
  return it->get<std::int64_t>();
}

Json encode_status(const launch::RunStatus& status) {
  Json json{{"state", name(status.state)},
            {"arms_ns", status.arms.count()},
            {"deadline_ns", status.deadline.count()},
            {"why", status.why}};
  if (status.elapsed) json["elapsed_ns"] = status.elapsed->count();
  if (status.charge) {
    json["charge"] = {{"wall_ns", status.charge->wall.count()},
                      {"accelerators", status.charge->accelerators},
                      {"cpus", status.charge->cpus}};
  }
  return json;
}

std::optional<launch::RunStatus> decode_status(const Json& json) {
  launch::RunStatus status;
  const auto state = launch::run_state_named(json.value("state", ""));
  if (!state) return std::nullopt;
  status.state = *state;
  status.arms = Nanos{whole(json, "arms_ns").value_or(0)};
  status.deadline = Nanos{whole(json, "deadline_ns").value_or(0)};
  status.why = json.value("why", "");
  status.elapsed.reset();
  if (const auto elapsed = whole(json, "elapsed_ns")) status.elapsed = Nanos{*elapsed};
  const Json charge = json.value("charge", Json());
  if (!charge.is_object()) return status;
  status.charge = launch::Charge{Nanos{whole(charge, "wall_ns").value_or(0)},
                                 static_cast<int>(whole(charge, "accelerators").value_or(0)),
                                 static_cast<int>(whole(charge, "cpus").value_or(0))};
  return status;
}

}  // namespace

bool create_once(const std::string& path, const std::string& text) {
  const std::string beside = fmt::format("{}.{}", path, os::random_hex(12));
  if (!os::write_file(beside, text)) return false;
  std::error_code failed;
  fs::create_hard_link(beside, path, failed);
  // An answer may be lost on the way: two names show that ours was made.
  std::error_code unknown;
  const bool ours = !failed || fs::hard_link_count(beside, unknown) == 2;
  fs::remove(beside, unknown);
  return ours;
}

WorkFolder::WorkFolder(const Context& context) : context_{context}, root_{context.path("work")} {}

std::string WorkFolder::folder_of(const std::string& id) const { return root_ + "/pieces/" + id; }

// By the ledger's clock: this machine's may be wrong.
Json WorkFolder::until() const { return (context_.clock->unix_time() + kLease).count(); }

// A time far ahead is from a clock that was wrong.
bool WorkFolder::is_alive(const std::string& file) const {
  const auto until = whole(json_in(file), "until_ns");
  const Nanos now = context_.clock->unix_time();
  return until && Nanos{*until} > now && Nanos{*until} < now + 2 * kLease;
}

int WorkFolder::last_claim(const std::string& id) const {
  int last = 0;
  for (const std::string& file : os::list(folder_of(id))) {
    if (!file.starts_with(kClaim)) continue;
    last = std::max(last, to_number<int>(file.substr(kClaim.size())).value_or(0));
  }
  return last;
}

bool WorkFolder::is_claimed(const std::string& id) const {
  const int last = last_claim(id);
  return last > 0 && is_alive(fmt::format("{}/{}{}", folder_of(id), kClaim, last));
}

bool WorkFolder::leave(const Piece& piece, std::int64_t fence, Nanos& offered) {
  const Nanos now = context_.clock->monotonic();
  if (is_claimed(piece.id)) {
    if (offered == Nanos{0}) offered = now;
    return true;
  }
  if (!has_idle_helper()) return false;
  const std::string folder = folder_of(piece.id);
  const std::string offer = folder + "/offer.json";
  const Json before = json_in(offer);
  if (!before.empty()) {
    const bool is_ours = whole(before, "fence") == fence && offered > Nanos{0};
    return is_ours && now - offered < kUnclaimed && last_claim(piece.id) < kMostClaims;
  }
  Json json{{"work", name(piece.kind)}, {"id", piece.id}, {"fence", fence}};
  if (piece.kind == Piece::Kind::kCollect) {
    json["place"] = place_of(context_);
    json["status"] = encode_status(piece.status);
  }
  offered = now;
  // Where it cannot be offered, the cycle does it.
  return os::make_dirs(folder) && os::write_file(offer, pretty_json(json));
}

void WorkFolder::keep_only(const std::set<std::string>& open) {
  for (const std::string& id : os::list(root_ + "/pieces")) {
    std::error_code failed;
    if (!open.contains(id)) fs::remove_all(folder_of(id), failed);
  }
}

std::vector<Piece> WorkFolder::offered() const {
  std::vector<Piece> pieces;
  for (const std::string& id : os::list(root_ + "/pieces")) {
    if (os::exists(folder_of(id) + "/done")) continue;
    const Json json = json_in(folder_of(id) + "/offer.json");
    if (json.value("id", "") != id) continue;
    if (json.value("work", "") == name(Piece::Kind::kAsk)) {
      pieces.push_back({Piece::Kind::kAsk, id});
      continue;
    }
    // What a run says of its place is said of this machine where that is the place.
    const auto status = decode_status(json.value("status", Json::object()));
    if (status && json.value("place", "") == place_of(context_)) {
      pieces.push_back({Piece::Kind::kCollect, id, *status});
    }
  }
  return pieces;
}

std::optional<WorkClaim> WorkFolder::claim(const Piece& piece, const std::string& helper) {
  const int last = last_claim(piece.id);
  if (last >= kMostClaims || is_claimed(piece.id)) return std::nullopt;
  const WorkClaim claim{last + 1, fmt::format("{}/{}{}", folder_of(piece.id), kClaim, last + 1)};
  const Json json{{"helper", helper}, {"until_ns", until()}};
  if (!create_once(claim.path, pretty_json(json))) return std::nullopt;
  if (os::exists(folder_of(piece.id) + "/done")) return std::nullopt;
  return claim;
}

Result<> WorkFolder::renew(const WorkClaim& claim, const std::string& helper) {
  if (!os::exists(claim.path)) return Ok{};  // It is done, and was cleared away.
  return os::write_file(claim.path, pretty_json(Json{{"helper", helper}, {"until_ns", until()}}));
}

void WorkFolder::give_back(const WorkClaim& claim) {
  if (os::exists(claim.path)) {
    static_cast<void>(os::write_file(claim.path, pretty_json(Json{{"until_ns", 0}})));
  }
}

void WorkFolder::mark_done(const Piece& piece) {
  if (os::exists(folder_of(piece.id))) {
    static_cast<void>(os::write_file(folder_of(piece.id) + "/done", ""));
  }
}

Result<> WorkFolder::sign_in(const std::string& helper, bool idle) {
  TRY(os::make_dirs(root_ + "/pieces"));
  TRY(os::make_dirs(fmt::format("{}{}", root_, kHelpers)));
  return os::write_file(fmt::format("{}{}/{}", root_, kHelpers, helper),
                        pretty_json(Json{{"until_ns", until()}, {"idle", idle}}));
}

void WorkFolder::sign_out(const std::string& helper) {
  std::error_code failed;
  fs::remove(fmt::format("{}{}/{}", root_, kHelpers, helper), failed);
}

bool WorkFolder::has_idle_helper() const {
  const std::string folder = fmt::format("{}{}", root_, kHelpers);
  return std::ranges::any_of(os::list(folder), [&](const std::string& helper) {
    const std::string file = folder + "/" + helper;
    return is_alive(file) && json_in(file).value("idle", false);
  });
}

namespace {

// Shows that the helper lives, and keeps the claim that it has.
class Keeper {
 public:
  Keeper(WorkFolder& folder, std::string helper) : folder_{folder}, helper_{std::move(helper)} {
    thread_ = std::thread([this] { keep(); });
  }
  ~Keeper() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_all();
    thread_.join();
    folder_.sign_out(helper_);
  }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  void has(std::optional<WorkClaim> claim) {
    const std::lock_guard lock(mutex_);
    if (claim.has_value() != claim_.has_value()) {
      static_cast<void>(folder_.sign_in(helper_, !claim));
    }
    claim_ = std::move(claim);
  }

 private:
  // What cannot be renewed expires, and someone else does it.
  void keep() {
    std::unique_lock lock(mutex_);
    do {
      static_cast<void>(folder_.sign_in(helper_, !claim_));
      if (claim_) static_cast<void>(folder_.renew(*claim_, helper_));
    } while (!wake_.wait_for(lock, kRenewEvery, [this] { return done_; }));
  }

  WorkFolder& folder_;
  std::string helper_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<WorkClaim> claim_;
  bool done_ = false;
  std::thread thread_;
};

class Helper {
 public:
  Helper(Context& context, const WorkOptions& options)
      : context_{context}, options_{options}, folder_{context}, keeper_{folder_, name_} {}

  Result<WorkSummary> work() {
    Nanos last = context_.clock->monotonic();
    while (!options_.stopped()) {
      if (TRY(look())) {
        last = context_.clock->monotonic();
        continue;
      }
      if (options_.idle && context_.clock->monotonic() - last >= *options_.idle) break;
      context_.clock->sleep(kLookEvery);
    }
    return summary_;
  }

 private:
  // Whether there was something to do.
  Result<bool> look() {
    bool did = false;
    for (const Piece& piece : folder_.offered()) {
      if (options_.stopped()) return did;
      if (failed_.contains(piece.id)) continue;
      const auto claim = folder_.claim(piece, name_);
      if (!claim) continue;
      did = true;
      keeper_.has(claim);
      os::fault_point("work.claimed");
      const Result<> done = piece.kind == Piece::Kind::kAsk ? ask(piece) : collect(piece);
      if (done) folder_.mark_done(piece);
      keeper_.has(std::nullopt);
      if (done) continue;
      failed_.insert(piece.id);
      ++summary_.given_up;
      folder_.give_back(*claim);
      options_.say(fmt::format("{}: given back: {}", piece.id, done.error().text));
    }
    return did;
  }

  // What a profile proposes may have been changed by the cycle meanwhile: it is then made anew.
  Result<> collect(const Piece& piece) {
    for (int tries = 1;; ++tries) {
      const auto done =
          collect_run(context_, piece.id, piece.status, "work:" + name_, options_.say);
      const bool conflicts = !done && done.error().kind == Error::Kind::kConflict;
      if (conflicts && tries < kMostConflictTries) continue;
      summary_.collected += TRY(done) ? 1 : 0;
      return Ok{};
    }
  }

  // Starts its worker, which outlives us. The cycle takes the answer from the folder.
  Result<> ask(const Piece& piece) {
    const AskFolder folder = ask_folder(context_, piece.id);
    for (const ledger::Ask& ask : TRY(context_.ledger->asks("", "reserved"))) {
      if (ask.id != piece.id) continue;
      const Json request = TRY(parse_json(ask.request).in(ask.id));
      TRY(hand_over(folder, request));
      options_.say(fmt::format("asking {}", piece.id));
      const Nanos began = context_.clock->monotonic();
      while (!os::exists(folder.reply()) && !options_.stopped()) {
        context_.clock->sleep(kLookEvery);
        if (os::FileLock::is_held(folder.claim())) continue;
        if (os::exists(folder.started())) break;  // It has ended.
        if (context_.clock->monotonic() - began > kUnclaimed) return external("no worker started");
      }
      ++summary_.asked;
    }
    return Ok{};
  }

  Context& context_;
  const WorkOptions& options_;
  std::string name_ = fmt::format("{}:{}", os::host_name(), ::getpid());
  WorkFolder folder_;
  Keeper keeper_;
  std::set<std::string> failed_;  // Here; another machine may be able to.
  WorkSummary summary_;
};

}  // namespace

Result<WorkSummary> run_work(Context& context, const WorkOptions& options) {
  TRY(make_state(context.path("work/pieces")));
  return Helper(context, options).work();
}

}  // namespace amdahl::app
