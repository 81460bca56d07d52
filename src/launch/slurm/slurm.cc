#include "launch/slurm/slurm.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "launch/local/local.h"
#include "launch/local/record.h"
#include "launch/marks.h"
#include "launch/slurm/ask.h"
#include "launch/slurm/rows.h"
#include "os/clock.h"
#include "os/fault.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::launch::slurm {
namespace {

using local::RunFolder;

constexpr std::size_t kMostNames = 1000;  // In one question to sacct.

// Fixed: whatever a run needs comes as arguments, which no shell reads. Modules come first.
constexpr std::string_view kScript = R"(#!/bin/bash
# Runs one pair of amdahl: sbatch ... job.sh [MODULE ...] -- COMMAND ...
modules=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do modules+=("$1"); shift; done
shift
if [ ${#modules[@]} -gt 0 ]; then
  for file in /etc/profile.d/modules.sh /etc/profile.d/lmod.sh; do
    type module >/dev/null 2>&1 || { [ -r "$file" ] && . "$file"; }
  done
  module load "${modules[@]}" || exit 9
  export AMDAHL_MODULES=1
fi
exec "$@"
)";

class SlurmLauncher final : public Launcher {
 public:
  explicit SlurmLauncher(const Site& site)
      : state_dir_{os::absolute(site.state_dir)},
        site_{site},
        settings_{site_.slurm},
        local_{local::make(site.state_dir)} {}

  std::vector<SubmitAnswer> submit(std::span<const PairRequest> requests) override {
    std::vector<SubmitAnswer> answers;
    for (const PairRequest& request : requests) answers.push_back(submit_one(request));
    queue_.reset();
    return answers;
  }

  Result<> release(std::span<const RunRef> runs) override {
    queue_.reset();
    const std::vector<Row> queue = TRY(queue_now());
    std::vector<std::string> ids;
    std::vector<std::string> copies;
    std::vector<std::string> missing;
    for (const RunRef& run : runs) {
      const RunFolder folder = folder_of(run.reservation);
      const std::vector<Row> rows = rows_named(queue, job_name(run));
      const auto keep = chosen(rows, recorded_id(folder));
      if (!keep && !local::has_begun(folder)) missing.push_back(run.reservation);
      if (!keep || !is_held(*keep) || os::exists(folder.cancelled())) continue;
      ids.push_back(keep->id);
      TRY(local::note_handing_over(folder));
      for (const Row& row : rows) {
        if (is_live(row) && row.id != keep->id) copies.push_back(row.id);
      }
    }
    queue_.reset();
    if (!copies.empty()) TRY(cancel_jobs(copies));
    if (!ids.empty()) TRY(ask({"scontrol", "release", join(ids, ",")}));
    if (missing.empty()) return Ok{};
    return external(fmt::format("not in Slurm's queue yet: {}", join(missing, ", ")));
  }

  std::vector<RunStatus> status(std::span<const RunRef> runs) override {
    std::vector<RunStatus> answers;
    note_started(runs);
    const Result<std::vector<Row>> queue = runs.empty() ? std::vector<Row>{} : queue_now();
    const Result<std::vector<Row>> past = queue ? accounting_of(runs, *queue) : queue.error();
    for (const RunRef& run : runs) {
      const RunFolder folder = folder_of(run.reservation);
      if (local::is_used(folder) && !is_of(folder, run)) {
        answers.push_back({.state = RunState::kForeign, .elapsed = std::nullopt});
        continue;
      }
      const std::string name = job_name(run);
      Look look;
      if (queue) look.queue = rows_named(*queue, name);
      if (past) look.accounting = rows_named(*past, name);
      if (!past) look.problem = past.error().text;
      answers.push_back(decide_on(folder, look, name));
    }
    return answers;
  }

  Result<Receipts> collect(const RunRef& run) override { return local_->collect(run); }

  // The worker is the job's batch process: it ends the arm and writes the receipts.
  Result<> cancel(const RunRef& run) override {
    const RunFolder folder = folder_of(run.reservation);
    if (!local::is_used(folder) || !is_of(folder, run) || os::exists(folder.done())) return Ok{};
    TRY(os::write_file(folder.cancelled(), "cancelled\n"));
    queue_.reset();
    for (const Row& row : rows_named(TRY(queue_now()), job_name(run))) {
      if (!is_live(row)) continue;
      const bool waits = row.state == "PENDING";
      TRY(waits ? cancel_jobs({row.id}) : scancel({"scancel", "--batch", "--signal=TERM", row.id}));
    }
    queue_.reset();
    return Ok{};
  }

  Result<> kill(const RunRef& run) override {
    const RunFolder folder = folder_of(run.reservation);
    if (!is_of(folder, run)) return Ok{};
    queue_.reset();
    std::vector<std::string> ids;
    for (const Row& row : rows_named(TRY(queue_now()), job_name(run))) {
      if (is_live(row)) ids.push_back(row.id);
    }
    queue_.reset();
    return ids.empty() ? Result<>(Ok{}) : cancel_jobs(ids);
  }

  Result<Capacity> capacity(const PairRequest& like) override {
    const Settings& own = settings_for(site_, like.spec.family);
    Capacity capacity = room_on(parse_nodes(TRY(nodes_of(own.partition)), own.gres),
                                need_of(like, own), own.exclusive && !like.build);
    capacity.hardware = hardware(own);
    for (const Row& row : TRY(queue_now())) {
      const bool ours = row.name.starts_with(kOurs);
      capacity.waiting += ours && row.state == "PENDING" && !is_held(row) ? 1 : 0;
    }
    capacity.room =
        std::max(*capacity.room - capacity.waiting, settings_.most_queued - capacity.waiting);
    capacity.room = std::max(0, *capacity.room);
    return capacity;
  }

 private:
  RunFolder folder_of(const std::string& reservation) const {
    return {fmt::format("{}/runs/{}", state_dir_, reservation)};
  }

  static std::vector<Row> rows_named(const std::vector<Row>& rows, const std::string& name) {
    std::vector<Row> found;
    std::ranges::copy_if(rows, std::back_inserter(found),
                         [&](const Row& row) { return row.name == name; });
    return found;
  }

  // A job that has ended meanwhile is cancelled, too.
  static Result<> scancel(const std::vector<std::string>& words) {
    const auto said = ask(words);
    if (!said && !says_ended(said.error().text)) return said.error();
    return Ok{};
  }
  static Result<> cancel_jobs(const std::vector<std::string>& ids) {
    std::vector<std::string> words{"scancel"};
    words.insert(words.end(), ids.begin(), ids.end());
    return scancel(words);
  }

  Result<std::string> nodes_of(const std::string& partition) {
    const Nanos now = os::real_clock().monotonic();
    const auto known = nodes_.find(partition);
    if (known != nodes_.end() && now - known->second.at < settings_.poll) return known->second.text;
    std::vector<std::string> words{"sinfo", "-h", "-N", "-O", kNodeFormat};
    if (!partition.empty()) words.push_back("--partition=" + partition);
    nodes_[partition] = {TRY(ask(words)), now};
    return nodes_[partition].text;
  }

  // Of all our jobs at once, so that the number of runs does not matter.
  Result<std::vector<Row>> queue_now() {
    if (must_ask()) {
      const auto text = ask({"squeue", "-h", "--me", "-t", "all", "-O", kQueueFormat});
      queue_ = text ? Result<std::vector<Row>>(parse_rows(*text)) : text.error();
      queue_at_ = os::real_clock().monotonic();
      past_.clear();
    }
    return *queue_;
  }

  // Jobs that left the queue, once per query of the queue.
  Result<std::vector<Row>> accounting_of(std::span<const RunRef> runs,
                                         const std::vector<Row>& queue) {
    std::set<std::string> shown;
    for (const Row& row : queue) shown.insert(row.name);
    std::vector<std::string> names;
    for (const RunRef& run : runs) {
      const bool asked = was_submitted(folder_of(run.reservation));
      const std::string name = job_name(run);
      if (asked && !shown.contains(name) && !past_.contains(name)) names.push_back(name);
    }
    for (std::size_t from = 0; from < names.size(); from += kMostNames) {
      const std::size_t to = std::min(names.size(), from + kMostNames);
      const std::span<const std::string> some(names.data() + from, to - from);
      const std::vector<Row> rows = TRY(account(some));
      for (const std::string& name : some) past_[name] = rows_named(rows, name);
    }
    std::vector<Row> all;
    for (const auto& [name, rows] : past_) all.insert(all.end(), rows.begin(), rows.end());
    return all;
  }

  static Result<std::vector<Row>> account(std::span<const std::string> names) {
    // Names every state, with a window open at both ends: otherwise a job cancelled while held
    // does not appear. -D shows each start of a requeued job.
    const auto text =
        ask({"sacct", "-X", "-D", "-n", "-P", fmt::format("--delimiter={}", kSeparator),
             "--name=" + join(names, ","), "-S", "now-30days", "-E", "now+1days", "-s",
             "PD,R,S,CD,CA,F,TO,NF,PR,BF,DL,OOM,RQ,RS,RV", "-o", kAccountingFormat});
    if (text) return parse_rows(*text);
    const bool none = text.error().text.find("accounting storage is disabled") != std::string::npos;
    return none ? Result<std::vector<Row>>(std::vector<Row>{}) : text.error();
  }

  bool must_ask() const {
    return !queue_ || os::real_clock().monotonic() - queue_at_ >= settings_.poll;
  }

  // A queued job whose worker had started before the query was requeued. A start after the query
  // proves nothing.
  void note_started(std::span<const RunRef> runs) {
    if (!must_ask()) return;
    started_.clear();
    for (const RunRef& run : runs) {
      if (os::exists(folder_of(run.reservation).started())) started_.insert(job_name(run));
    }
  }

  RunStatus decide_on(const RunFolder& folder, const Look& look, const std::string& name) const {
    const bool nowhere = look.problem.empty() && look.queue.empty() && look.accounting.empty();
    const auto owner = local::owner_of(folder);
    FolderFacts facts = facts_of(folder, nowhere, settings_.settle);
    facts.had_started = started_.contains(name);
    RunStatus status = decide(look, facts, owner ? owner->accelerators : 1);
    if (owner) {
      status.arms = owner->arms;
      status.deadline = owner->deadline;
    }
    status.released = local::handed_over(folder).times;
    return status;
  }

  SubmitAnswer submit_one(const PairRequest& request) {
    const RunRef run{request.reservation, request.ticket};
    const RunFolder folder = folder_of(request.reservation);
    const auto there = for_allocation(request);
    if (!there) return {Handover::kRefused, "", there.error().text};
    SubmitAnswer kept = local_->submit(std::span(&*there, 1)).front();
    if (kept.handover != Handover::kAccepted) return kept;
    if (was_submitted(folder)) {
      // It may exist already, and must not exist twice.
      queue_.reset();
      const RunStatus before = status_of(*this, run);
      const bool over = before.state == RunState::kLost || before.state == RunState::kFinished;
      if (!before.worker.empty()) return {Handover::kAccepted, before.worker};
      if (over) return {Handover::kRefused, "", "it has already run"};
      if (before.state != RunState::kAbsent) return {Handover::kUnknown, "", before.why};
    }
    return hand_in(*there, folder);
  }

  SubmitAnswer hand_in(const PairRequest& request, const RunFolder& folder) {
    const auto fails = [](const Error& error) {
      return SubmitAnswer{Handover::kRefused, "", error.text};
    };
    const std::string name = job_name({request.reservation, request.ticket});
    const std::string script = state_dir_ + "/slurm/job.sh";
    if (const auto made = os::make_dirs(state_dir_ + "/slurm"); !made) return fails(made.error());
    if (const auto made = os::write_file(script, kScript); !made) return fails(made.error());
    const Settings& own = settings_for(site_, request.spec.family);
    std::vector<std::string> command = own.wrap;
    for (const std::string& word : worker_words(folder)) command.push_back(word);
    const std::string log = fmt::format("{}/slurm/{}.log", state_dir_, name);
    const std::vector<std::string> words = submit_words(request, own, script, log, command);
    if (const auto marked = mark_submitted(folder); !marked) return fails(marked.error());
    os::fault_point("launch.submit.before_spawn");
    const auto text = ask(words);
    os::fault_point("launch.submit.after_spawn");
    if (!text && is_refusal(text.error())) {
      unmark_submitted(folder);
      return fails(text.error());
    }
    if (!text) return {Handover::kUnknown, "", text.error().text};
    const auto id = parse_id(*text);
    if (!id) return {Handover::kUnknown, "", fmt::format("sbatch printed: {}", clip(*text, 80))};
    if (const auto noted = record_id(folder, *id); !noted) {
      return {Handover::kUnknown, "", noted.error().text};
    }
    Row row;
    row.id = *id;
    row.name = name;
    return {Handover::kAccepted, worker_id(row)};
  }

  struct Nodes {
    std::string text;  // As sinfo printed them.
    Nanos at{};
  };

  std::string state_dir_;
  Site site_;
  const Settings& settings_;         // Where no family's own count.
  std::unique_ptr<Launcher> local_;  // Stores requests and reads what the runs left.
  std::optional<Result<std::vector<Row>>> queue_;
  Nanos queue_at_{};
  std::set<std::string> started_;  // Names of jobs whose workers had started before the query.
  std::map<std::string, std::vector<Row>> past_;  // Of accounting, since the queue was asked.
  std::map<std::string, Nodes> nodes_;            // By partition.
};

}  // namespace

std::unique_ptr<Launcher> make(const Site& site) { return std::make_unique<SlurmLauncher>(site); }

const Settings& settings_for(const Site& site, const std::string& family) {
  const auto own = site.families.find(family);
  return own == site.families.end() ? site.slurm : own->second;
}

std::string hardware(const Settings& settings) {
  std::string text = "slurm";
  for (const std::string& part : {settings.partition, settings.gres, settings.constraint}) {
    if (!part.empty()) text += " " + part;
  }
  return text;
}

}  // namespace amdahl::launch::slurm
