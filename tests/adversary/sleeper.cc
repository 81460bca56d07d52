#include "sleeper.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text.h"
#include "launch/local/arms.h"
#include "launch/local/local.h"
#include "launch/local/record.h"
#include "model/codec.h"
#include "os/fault.h"
#include "os/files.h"
#include "os/host.h"
#include "run_arm.h"

namespace amdahl::adversary {
namespace {

using launch::PairRequest;
using launch::RunState;
using launch::local::RunFolder;

constexpr Nanos kForEver = std::chrono::hours(24 * 3650);
constexpr int kNobody = 1 << 22;  // A process number that the kernel does not give.

std::uint64_t number_of(const std::string& name) {
  return std::stoull(sha256_hex(name).substr(0, 15), nullptr, 16);
}

// Another input every few pairs; the same for all arms of one.
Result<> lay_out_input(const Scenario& scenario, const World& world) {
  const std::string folder = scenario.spec.workdir + "/data";
  TRY(os::make_dirs(folder));
  return os::write_file(folder + "/a.bin", fmt::format("input {:06}\n", input_now(world)));
}

// When it was handed over, each time.
std::vector<std::string> tries(const RunFolder& folder) {
  const auto text = os::read_file(folder.handed());
  std::vector<std::string> times;
  if (!text) return times;
  for (const std::string_view line : split(*text, '\n')) {
    if (!line.empty()) times.emplace_back(line);
  }
  return times;
}

Result<PairRequest> request_in(const RunFolder& folder) {
  const std::string text = TRY(os::read_file(folder.request()));
  const Json json = TRY(parse_json(text));
  return launch::decode_request(json);
}

// The seal no longer fits.
Result<> damage(const std::string& path) {
  std::string text = TRY(os::read_file(path));
  const std::size_t at = text.find("wall_ns");
  if (at != text.npos) text.replace(at, 7, "wall_xs");
  return os::write_file(path, text);
}

}  // namespace

Sleeper::Sleeper(const Scenario& scenario, World& world, VirtualClock& clock)
    : scenario_{scenario},
      world_{world},
      clock_{clock},
      local_{launch::local::make(scenario.config.state_dir)} {}

RunFolder Sleeper::folder_of(const std::string& reservation) const {
  return {fmt::format("{}/runs/{}", scenario_.config.state_dir, reservation)};
}

Result<Sleeper::Fate> Sleeper::run(const PairRequest& request, sim::Stream& luck) {
  const RunFolder folder = folder_of(request.reservation);
  Fate fate;
  fate.starts = clock_.monotonic() + from_seconds(scenario_.trouble.slow_start_s);
  Nanos now = fate.starts;
  TRY(lay_out_input(scenario_, world_));
  const double contended = request.contended ? luck.uniform(0.2, 0.5) : 0;
  const std::vector<launch::local::Arm> arms = TRY(launch::local::arms_of(request));
  const std::string host =
      fmt::format("n{}", 1 + luck.below(static_cast<std::size_t>(scenario_.job.hosts)));
  const bool dies = luck.chance(scenario_.trouble.dies);
  const std::size_t last = dies ? luck.below(arms.size()) : arms.size();
  std::string before;  // The arm that ran before.
  bool baseline_ran = false;
  std::optional<AcceleratorSeconds> baseline;  // Its cost, if it ran well.
  TRY(os::write_file(folder.started(), dump_json(Json{{"pid", kNobody},
                                                      {"boot_id", os::boot_id()},
                                                      {"host", os::host_name()},
                                                      {"at", clock_.unix_time().count()}})));
  for (const launch::local::Arm& arm : arms) {
    const Nanos unix_time = clock_.unix_time() - clock_.monotonic() + now;
    const bool after = baseline_ran && !request.concurrent;
    const bool warm = !before.empty() && !request.concurrent;
    ArmRun what{request,   arm,  folder.out(arm.name),
                unix_time, host, {after, warm, warm, contended, now}};
    if (baseline) {
      what.too_dear_after = launch::local::too_dear_after(arm, *baseline, request.spec.time_limit);
    }
    ArmEnd end = TRY(run_arm(scenario_, world_, what, luck));
    const bool costs_known = arm.name == "A" && model::succeeded(end.receipt);
    if (costs_known && !request.concurrent) baseline = model::cost(end.receipt);
    world_.used_s += to_seconds(end.receipt.wall) * end.receipt.accelerators;
    fate.ends = std::max<Nanos>(fate.ends, now + end.receipt.wall);
    if (!request.concurrent) now += end.receipt.wall;
    fate.lost = end.kills_worker || &arm == arms.data() + last;
    if (fate.lost) break;  // Without its receipt.
    model::seal(end.receipt);
    TRY(os::write_file(folder.receipt(arm.name), pretty_json(model::encode(end.receipt))));
    if (end.spoils_other && !before.empty()) TRY(damage(folder.receipt(before)));
    before = arm.name;
    baseline_ran |= arm.name == "A";
  }
  if (luck.chance(scenario_.trouble.sleeps)) fate.ends = kForEver;
  return fate;
}

std::vector<launch::SubmitAnswer> Sleeper::submit(std::span<const PairRequest> requests) {
  std::vector<launch::SubmitAnswer> answers;
  for (const PairRequest& request : requests) {
    const auto kept = keep(request);
    answers.push_back(
        kept ? launch::SubmitAnswer{launch::Handover::kAccepted, "virtual:" + request.reservation}
             : launch::SubmitAnswer{launch::Handover::kRefused, "", kept.error().text});
  }
  return answers;
}

void Sleeper::wait_for_disk() {
  world_.now_ns += from_seconds(scenario_.trouble.slow_disk_s).count();
}

Result<> Sleeper::keep(const PairRequest& request) {
  wait_for_disk();
  const RunFolder folder = folder_of(request.reservation);
  const auto owner = launch::local::owner_of(folder);
  if (launch::local::is_used(folder) && (!owner || owner->ticket != request.ticket)) {
    TRY(launch::local::move_aside(folder));
    under_way_.erase(request.reservation);
  }
  TRY(os::make_dirs(folder.path));
  if (launch::local::has_begun(folder)) return Ok{};
  return os::write_file(folder.request(), pretty_json(launch::encode_request(request)));
}

Result<> Sleeper::release(std::span<const launch::RunRef> runs) {
  for (const launch::RunRef& run : runs) TRY(start(run));
  return Ok{};
}

Result<> Sleeper::start(const launch::RunRef& ref) {
  wait_for_disk();
  const RunFolder folder = folder_of(ref.reservation);
  const std::vector<std::string> handed = tries(folder);
  std::string all;
  for (const std::string& time : handed) all += time + "\n";
  TRY(os::write_file(folder.handed(), fmt::format("{}{}\n", all, clock_.monotonic().count())));
  if (const auto known = TRY(fate_of(ref.reservation))) {
    world_.resubmitted += known->ends < clock_.monotonic() ? 1 : 0;
    return Ok{};
  }
  if (os::exists(folder.cancelled())) return Ok{};
  const PairRequest request = TRY(request_in(folder));
  os::fault_point("launch.submit.before_spawn");
  sim::Stream luck(scenario_.seed, number_of(request.reservation), handed.size());
  if (luck.chance(scenario_.trouble.never_starts)) return Ok{};
  const Fate fate = TRY(run(request, luck));
  TRY(decree(request.reservation, fate));
  ++world_.executions;
  os::fault_point("launch.submit.after_spawn");
  return Ok{};
}

Result<> Sleeper::decree(const std::string& reservation, const Fate& fate) {
  under_way_[reservation] = fate;
  const Json json{{"starts", fate.starts.count()},
                  {"ends", fate.ends.count()},
                  {"lost", fate.lost},
                  {"ledger", world_.ledger}};
  return os::write_file(folder_of(reservation).path + "/fate.json", dump_json(json));
}

Result<std::optional<Sleeper::Fate>> Sleeper::fate_of(const std::string& reservation) {
  if (const auto it = under_way_.find(reservation); it != under_way_.end()) {
    return std::optional(it->second);
  }
  const auto text = os::read_file(folder_of(reservation).path + "/fate.json");
  if (!text) return std::optional<Fate>{};
  const Json json = TRY(parse_json(*text));
  const Fate fate{Nanos(json.at("starts").get<std::int64_t>()),
                  Nanos(json.at("ends").get<std::int64_t>()), json.at("lost").get<bool>()};
  under_way_[reservation] = fate;
  return std::optional(fate);
}

RunState Sleeper::state_of(const launch::RunRef& run, const std::optional<Fate>& fate) {
  const RunFolder folder = folder_of(run.reservation);
  const Nanos now = clock_.monotonic();
  if (!fate || now < fate->starts) {
    if (os::exists(folder.cancelled())) return RunState::kLost;
    const std::vector<std::string> handed = tries(folder);
    launch::local::Submissions made{static_cast<int>(handed.size())};
    if (made.times > 0) made.since = now - Nanos(std::stoll(handed.front()));
    return launch::local::is_starting(made) ? RunState::kQueued : RunState::kHeld;
  }
  if (now < fate->ends) return RunState::kRunning;
  return fate->lost ? RunState::kLost : RunState::kFinished;
}

std::vector<launch::RunStatus> Sleeper::status(std::span<const launch::RunRef> runs) {
  std::vector<launch::RunStatus> answers;
  for (const launch::RunRef& run : runs) {
    const auto found = look_at(run);
    answers.push_back(found ? *found : launch::RunStatus{.why = found.error().text});
  }
  return answers;
}

Result<launch::Capacity> Sleeper::capacity(const PairRequest& like) {
  return local_->capacity(like);
}

Result<launch::RunStatus> Sleeper::look_at(const launch::RunRef& run) {
  const RunFolder folder = folder_of(run.reservation);
  const auto owner = launch::local::owner_of(folder);
  launch::RunStatus status;
  status.state = RunState::kAbsent;
  if (!launch::local::is_used(folder)) return status;
  if (!owner || owner->ticket != run.ticket) {
    status.state = RunState::kForeign;
    status.elapsed = std::nullopt;
    return status;
  }
  const auto fate = TRY(fate_of(run.reservation));
  const std::vector<std::string> handed = tries(folder);
  const Nanos now = clock_.monotonic();
  status.state = state_of(run, fate);
  status.worker = "virtual:" + run.reservation;
  status.released = static_cast<int>(handed.size());
  status.arms = owner->arms;
  status.deadline = owner->deadline;
  const bool began = fate && now >= fate->starts;
  const Nanos first(handed.empty() ? now.count() : std::stoll(handed.front()));
  status.elapsed = began ? std::min(now, fate->ends) - fate->starts : now - first;
  return status;
}

Result<launch::Receipts> Sleeper::collect(const launch::RunRef& run) {
  wait_for_disk();
  const RunFolder folder = folder_of(run.reservation);
  const auto fate = TRY(fate_of(run.reservation));
  if (fate && !fate->lost && !os::exists(folder.done())) {
    const PairRequest request = TRY(request_in(folder));
    Json done{{"at", clock_.unix_time().count()}, {"arms", Json::array()}};
    const std::vector<launch::local::Arm> arms = TRY(launch::local::arms_of(request));
    for (const launch::local::Arm& arm : arms) done["arms"].push_back(arm.name);
    TRY(os::write_file(folder.done(), dump_json(done)));
  }
  return local_->collect(run);
}

// What a run that ends early does not use.
void Sleeper::give_back(const Fate& fate, Nanos now) {
  if (fate.ends < kForEver) world_.used_s -= to_seconds(fate.ends - std::max(now, fate.starts));
}

// The arm that ran last was under way, and its receipt says so.
Result<> Sleeper::cancel(const launch::RunRef& run) {
  wait_for_disk();
  const RunFolder folder = folder_of(run.reservation);
  TRY(os::make_dirs(folder.path));
  TRY(os::write_file(folder.cancelled(), "cancelled\n"));
  const auto fate = TRY(fate_of(run.reservation));
  const Nanos now = clock_.monotonic();
  if (!fate || now < fate->starts || fate->ends <= now) return Ok{};
  const PairRequest request = TRY(request_in(folder));
  const std::vector<launch::local::Arm> arms = TRY(launch::local::arms_of(request));
  const std::string path = folder.receipt(arms.back().name);
  const auto text = os::read_file(path);
  Fate cut{fate->starts, now, fate->lost || !text};
  if (text) {
    model::Receipt receipt = TRY(model::decode_text<model::Receipt>(*text));
    receipt.ending = model::Ending::kCancelled;
    receipt.reason = "the run was cancelled";
    model::seal(receipt);
    TRY(os::write_file(path, pretty_json(model::encode(receipt))));
  }
  give_back(*fate, now);
  return decree(run.reservation, cut);
}

Result<> Sleeper::kill(const launch::RunRef& run) {
  const auto fate = TRY(fate_of(run.reservation));
  const Nanos now = clock_.monotonic();
  if (!fate || fate->ends <= now) return Ok{};
  give_back(*fate, now);
  return decree(run.reservation, {fate->starts, now, true});
}

Nanos Sleeper::next_end() {
  Nanos next = Nanos::max();
  const Nanos now = clock_.monotonic();
  for (const auto& [name, fate] : under_way_) {
    for (const Nanos at : {fate.starts, fate.ends}) {
      if (at > now && at < kForEver) next = std::min(next, at);
    }
  }
  return next;
}

}  // namespace amdahl::adversary
