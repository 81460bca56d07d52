#include "launch/local/local.h"

#include <csignal>
#include <filesystem>
#include <map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/redact.h"
#include "base/text.h"
#include "launch/local/record.h"
#include "launch/local/spawn.h"
#include "launch/steps.h"
#include "model/codec.h"
#include "observe/report.h"
#include "observe/supervisor.h"
#include "os/clock.h"
#include "os/fault.h"
#include "os/files.h"
#include "os/host.h"
#include "os/left.h"
#include "os/lock.h"

namespace amdahl::launch::local {
namespace {

Result<Json> json_in(const std::string& path) {
  const std::string text = TRY(os::read_left(path));
  return parse_json(text).in(path);
}

std::string name_of(const RunFolder& folder) {
  return std::filesystem::path(folder.path).filename().string();
}

// The receipt, or nothing and the reason why it is missing or not trusted.
std::optional<model::Receipt> receipt_of(const RunFolder& folder, const std::string& arm,
                                         std::string& problem) {
  const auto complain = [&](const std::string& what) {
    if (!problem.empty()) problem += "; ";
    problem += fmt::format("arm {}: {}", arm, what);
  };
  const auto text = os::read_left(folder.receipt(arm));
  if (!text) {
    complain(text.error().text);
    return std::nullopt;
  }
  auto receipt = model::decode_text<model::Receipt>(*text);
  if (!receipt) {
    complain(receipt.error().text);
    return std::nullopt;
  }
  if (!model::check_seal(*receipt)) {
    complain("the receipt was changed after it was written");
    return std::nullopt;
  }
  if (const std::string id = name_of(folder) + "/" + arm; receipt->id != id) {
    complain(fmt::format("the receipt belongs to {}", receipt->id));
    return std::nullopt;
  }
  return *receipt;
}

// One process that ran both arms in turn. A failed run shows in the endings of its arms; a run that
// ended well but cannot be used shows in `problem`.
void add_steps(const RunFolder& folder, const PairRequest& request, Receipts& receipts) {
  receipts.out_b = receipts.out_a;
  receipts.whole = receipt_of(folder, "A", receipts.problem);
  if (!receipts.whole) return;
  const auto pairs = step_pairs(*receipts.whole, request.schedule);
  if (model::succeeded(*receipts.whole) && !pairs) {
    receipts.problem = pairs.error().text;
    return;
  }
  if (model::succeeded(*receipts.whole)) receipts.steps = *pairs;
  receipts.a = step_share(*receipts.whole, request.schedule, 'A');
  receipts.b = step_share(*receipts.whole, request.schedule, 'B');
}

std::vector<std::string> arms_in(const Json& done, std::string_view list) {
  std::vector<std::string> arms;
  if (!done.is_object() || !done.contains(list) || !done.at(list).is_array()) return arms;
  for (const Json& arm : done.at(list)) {
    if (arm.is_string()) arms.push_back(arm.get<std::string>());
  }
  return arms;
}

// Which arms of a run were seen to run and to end. What has ended once does not run again, whatever
// the run removes of its folder.
struct Seen {
  std::string under_way;
  std::string ended;
};

// The arms that have begun and have no receipt: an arm's output is opened as the last thing before
// it starts.
void look(const RunFolder& folder, Seen& seen) {
  std::string under_way;
  for (std::size_t arm = 0; arm < 1 + kBlockVariants; ++arm) {
    const char letter = static_cast<char>('A' + arm);
    if (seen.ended.find(letter) != std::string::npos) continue;
    const std::string name(1, letter);
    if (os::exists(folder.receipt(name))) {
      seen.ended += letter;
    } else if (os::exists(folder.out(name) + "/stdout")) {
      under_way += letter;
    }
  }
  std::erase_if(seen.under_way,
                [&](char arm) { return seen.ended.find(arm) != std::string::npos; });
  // What a run removed of its folder does not tell.
  if (!under_way.empty()) seen.under_way = under_way;
}

// What an unfinished run left: receipts of finished arms, and which arms were running; `seen`: by
// all looks at it.
Result<> add_lost(const RunFolder& folder, Seen seen, Receipts& receipts) {
  receipts.lost = true;
  receipts.problem = "the worker died without writing receipts";
  receipts.under_way = seen.under_way;
  const auto stored = json_in(folder.request());
  const auto decoded = stored ? decode_request(*stored) : Result<PairRequest>(stored.error());
  if (!decoded) return Ok{};
  const PairRequest& request = *decoded;
  std::string ignored;
  if (!request.steps) {
    receipts.a = receipt_of(folder, "A", ignored);
    receipts.b = receipt_of(folder, "B", ignored);
  }
  for (std::size_t arm = 0; arm < request.more.size(); ++arm) {
    const std::string letter(1, static_cast<char>('C' + arm));
    receipts.more.push_back(receipt_of(folder, letter, ignored));
  }
  if (request.steps) seen = {};
  look(folder, seen);
  receipts.under_way = seen.under_way;
  if (request.steps && !receipts.under_way.empty()) {
    const auto report = os::read_left(folder.out("A") + "/report.jsonl");
    const auto steps = observe::read_report(report ? *report : "", false, {}).steps.arms.size();
    receipts.under_way = arm_under_way(steps, request.schedule);
  }
  if (!receipts.under_way.empty()) {
    receipts.problem += fmt::format(
        " while {} ran", receipts.under_way.size() > 1 ? "both arms" : receipts.under_way);
  }
  return Ok{};
}

// In a finished run each receipt existed when its arm ended. Later changes are the work of an arm
// that ran after it or concurrently.
std::string could_have_changed(const std::string& arm, const PairRequest& request,
                               const std::vector<std::string>& order) {
  std::string others;
  bool after = request.concurrent;
  for (const std::string& name : order) {
    if (after && name != arm) others += name;
    after |= name == arm;
  }
  return others;
}

// A reservation is a folder's name and nothing else.
Result<RunFolder> folder_in(const std::string& state_dir, const std::string& reservation) {
  const bool bad = reservation.empty() || reservation.front() == '.' ||
                   reservation.find('/') != reservation.npos;
  if (bad) return bad_input(fmt::format("\"{}\" is not a reservation", reservation));
  return RunFolder{fmt::format("{}/runs/{}", state_dir, reservation)};
}

class LocalLauncher final : public Launcher {
 public:
  explicit LocalLauncher(std::string state_dir) : state_dir_{os::absolute(state_dir)} {}

  std::vector<SubmitAnswer> submit(std::span<const PairRequest> requests) override {
    std::vector<SubmitAnswer> answers;
    for (const PairRequest& request : requests) {
      const auto kept = keep(request);
      answers.push_back(kept ? SubmitAnswer{Handover::kAccepted, worker_id(request.reservation)}
                             : SubmitAnswer{Handover::kRefused, "", kept.error().text});
    }
    return answers;
  }

  Result<> release(std::span<const RunRef> runs) override {
    std::vector<std::string> problems;
    for (const RunRef& run : runs) {
      if (const auto started = start(run); !started) problems.push_back(started.error().text);
    }
    if (problems.empty()) return Ok{};
    return external(join(problems, "; "));
  }

  std::vector<RunStatus> status(std::span<const RunRef> runs) override {
    std::vector<RunStatus> answers;
    for (const RunRef& run : runs) answers.push_back(look_at(run));
    return answers;
  }

  Result<Receipts> collect(const RunRef& run) override {
    const RunFolder folder = TRY(folder_of(run.reservation));
    if (!is_of(folder, run.ticket)) {
      return Error{Error::Kind::kConflict,
                   fmt::format("{} belongs to another run: the ticket differs", folder.path)};
    }
    Receipts receipts;
    receipts.out_a = folder.out("A");
    receipts.out_b = folder.out("B");
    const bool seen = seen_.contains(folder.path);
    if (!os::exists(folder.done()) && !has_begun(folder) && !seen) {
      return Error{Error::Kind::kNotFound,
                   fmt::format("{}: the run has not started", run.reservation)};
    }
    const auto written = json_in(folder.done());
    if (!written) {
      TRY(add_lost(folder, seen ? seen_.at(folder.path) : Seen{}, receipts));
      if (os::exists(folder.done())) receipts.problem = written.error().text;
      return receipts;
    }
    const Json& done = *written;
    if (done.is_object() && done.contains("problem")) {
      const Json& problem = done.at("problem");
      receipts.problem = problem.is_string() ? problem.get<std::string>() : problem.dump();
      return receipts;
    }
    receipts.order = arms_in(done, "arms");
    receipts.restored = arms_in(done, "restored");
    if (done.is_object()) {
      receipts.build_wall = Nanos{done.value("build_wall_ns", std::int64_t{0})};
      receipts.build_cpu = Nanos{done.value("build_cpu_ns", std::int64_t{0})};
    }
    const Json stored = TRY(json_in(folder.request()));
    const PairRequest request = TRY(decode_request(stored).in(folder.request()));
    if (request.build) return receipts;
    if (request.steps) {
      add_steps(folder, request, receipts);
      return receipts;
    }
    const auto take = [&](const std::string& arm) {
      auto receipt = receipt_of(folder, arm, receipts.problem);
      if (!receipt) receipts.under_way += could_have_changed(arm, request, receipts.order);
      return receipt;
    };
    receipts.a = take("A");
    receipts.b = take("B");
    for (std::size_t i = 0; i < request.more.size(); ++i) {
      receipts.more.push_back(take(std::string(1, static_cast<char>('C' + i))));
    }
    return receipts;
  }

  Result<> cancel(const RunRef& run) override {
    const RunFolder folder = TRY(folder_of(run.reservation));
    if (os::exists(folder.done()) || !is_used(folder) || !is_of(folder, run.ticket)) return Ok{};
    // First the mark, then the signal: a worker that begins in between sees the mark.
    TRY(os::write_file(folder.cancelled(), "cancelled\n"));
    const Nanos give_up = os::real_clock().monotonic() + std::chrono::seconds(1);
    while (os::FileLock::is_held(folder.claim()) && os::real_clock().monotonic() < give_up) {
      if (const auto worker = living_worker(folder)) {
        ::kill(*worker, SIGTERM);
        ::kill(*worker, SIGCONT);  // A stopped worker would not get the signal.
        return Ok{};
      }
      os::real_clock().sleep(std::chrono::milliseconds(10));
    }
    return Ok{};
  }

  Result<> kill(const RunRef& run) override {
    const RunFolder folder = TRY(folder_of(run.reservation));
    if (!is_of(folder, run.ticket)) return Ok{};
    if (const auto worker = living_worker(folder)) ::kill(*worker, SIGKILL);
    return Ok{};
  }

  Result<Capacity> capacity(const PairRequest&) override {
    return Capacity{.hardware = observe::hardware()};
  }

 private:
  Result<RunFolder> folder_of(const std::string& reservation) const {
    return folder_in(state_dir_, reservation);
  }

  Result<> keep(const PairRequest& request) {
    const RunFolder folder = TRY(folder_of(request.reservation));
    if (is_used(folder) && !is_of(folder, request.ticket)) TRY(move_aside(folder));
    owners_.erase(folder.path);
    seen_.erase(folder.path);
    TRY(os::make_dirs(folder.path));
    if (os::exists(folder.started())) return Ok{};
    return os::write_file(folder.request(), pretty_json(encode_request(request)));
  }

  Result<> start(const RunRef& run) {
    const RunFolder folder = TRY(folder_of(run.reservation));
    if (!is_used(folder) || !is_of(folder, run.ticket)) {
      return Error{Error::Kind::kNotFound,
                   fmt::format("{}: this run was never submitted", run.reservation)};
    }
    if (has_begun(folder)) return Ok{};
    const Json stored = TRY(json_in(folder.request()));
    const PairRequest request = TRY(decode_request(stored).in(folder.request()));
    Environment environment = own_environment();
    if (!request.environment.empty()) {
      environment = with_live(TRY(kept_environment(state_dir_, request.environment)), environment);
    }
    os::fault_point("launch.submit.before_spawn");
    const std::string worker = os::env_or("AMDAHL_WORKER", os::self_path());
    const auto spawned =
        spawn_detached({worker, "exec", "--pair", folder.path}, environment, folder.log());
    os::fault_point("launch.submit.after_spawn");
    // Also what failed was a try, and tries have an end.
    TRY(note_handing_over(folder));
    return spawned;
  }

  RunStatus look_at(const RunRef& run) {
    RunStatus status;
    const auto found = folder_of(run.reservation);
    if (!found) {
      status.why = found.error().text;
      return status;
    }
    const RunFolder& folder = *found;
    status.state = state_of(folder, run);
    if (status.state == RunState::kForeign) {
      status.elapsed = std::nullopt;
      return status;
    }
    if (const Owner* owner = owner_in(folder)) {
      status.arms = owner->arms;
      status.deadline = owner->deadline;
      status.worker = worker_id(run.reservation);
    }
    status.released = handed_over(folder).times;
    status.elapsed = time_taken(folder);
    if (status.state == RunState::kRunning) look(folder, seen_[folder.path]);
    if (status.state == RunState::kFinished) {
      owners_.erase(folder.path);
      seen_.erase(folder.path);
    }
    return status;
  }

  static std::string worker_id(const std::string& reservation) {
    return fmt::format("local:{}:{}", os::host_name(), reservation);
  }

  // Read once: a run is asked about many times a second.
  const Owner* owner_in(const RunFolder& folder) {
    const auto known = owners_.find(folder.path);
    if (known != owners_.end()) return &known->second;
    std::optional<Owner> owner = owner_of(folder);
    return owner ? &owners_.emplace(folder.path, *std::move(owner)).first->second : nullptr;
  }

  bool is_of(const RunFolder& folder, const std::string& ticket) {
    const Owner* owner = owner_in(folder);
    return owner && owner->ticket == ticket;
  }

  RunState state_of(const RunFolder& folder, const RunRef& run) {
    // A run that was seen was there, whatever it removed of its folder since.
    const bool seen = seen_.contains(folder.path);
    if (!is_used(folder)) return seen ? RunState::kLost : RunState::kAbsent;
    if (!is_of(folder, run.ticket)) return RunState::kForeign;
    // A file of that name is its worker's last word only once the worker has gone.
    if (os::FileLock::is_held(folder.claim())) return RunState::kRunning;
    if (os::exists(folder.done())) return RunState::kFinished;
    if (seen || has_begun(folder)) return RunState::kLost;
    return is_starting(handed_over(folder)) ? RunState::kQueued : RunState::kHeld;
  }

  std::string state_dir_;
  std::map<std::string, Owner> owners_;  // By folder.
  std::map<std::string, Seen> seen_;     // By folder.
};

}  // namespace

std::unique_ptr<Launcher> make(const std::string& state_dir) {
  return std::make_unique<LocalLauncher>(state_dir);
}

}  // namespace amdahl::launch::local

namespace amdahl::launch {

Result<Receipts> run_here(const std::string& state_dir, const PairRequest& request) {
  const std::string state = os::absolute(state_dir);
  const local::RunFolder folder = TRY(local::folder_in(state, request.reservation));
  TRY(os::make_dirs(folder.path));
  // A typed command may hold secrets. It runs from memory; the record is for people.
  TRY(os::write_file(folder.request(), pretty_json(redact(encode_request(request)))));
  TRY(local::run_request(folder, request));
  return local::make(state)->collect({request.reservation, request.ticket});
}

}  // namespace amdahl::launch
