#include "launch/command/command.h"

#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "launch/command/answers.h"
#include "launch/local/record.h"
#include "launch/marks.h"
#include "os/clock.h"
#include "os/fault.h"
#include "os/files.h"
#include "os/host.h"
#include "os/program.h"

namespace amdahl::launch::command {
namespace {

using local::RunFolder;

constexpr Nanos kAnswersWithin = std::chrono::seconds(90);
constexpr int kSchema = 1;

class CommandLauncher final : public Launcher {
 public:
  explicit CommandLauncher(const Site& site)
      : state_dir_{os::absolute(site.state_dir)},
        plug_in_{os::absolute(site.plug_in)},
        poll_{site.slurm.poll},
        settle_{site.slurm.settle},
        local_{local::make(site.state_dir)} {}

  std::vector<SubmitAnswer> submit(std::span<const PairRequest> requests) override {
    std::vector<SubmitAnswer> answers(requests.size());
    std::vector<std::size_t> fresh;
    Json runs = Json::array();
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (auto settled = settle_before(requests[i])) {
        answers[i] = *std::move(settled);
        continue;
      }
      fresh.push_back(i);
      runs.push_back(job_of(requests[i]));
    }
    known_.clear();
    if (fresh.empty()) return answers;
    os::fault_point("launch.submit.before_spawn");
    const auto told = about("submit", std::move(runs));
    os::fault_point("launch.submit.after_spawn");
    for (std::size_t at = 0; at < fresh.size(); ++at) {
      SubmitAnswer& answer = answers[fresh[at]];
      const RunFolder folder = folder_of(requests[fresh[at]].reservation);
      answer = told ? submit_answer((*told)[at])
                    : SubmitAnswer{Handover::kUnknown, "", told.error().text};
      // A plug-in that is not there has submitted nothing.
      const bool no_program = !told && told.error().kind == Error::Kind::kUnsupported;
      if (no_program) answer.handover = Handover::kRefused;
      if (answer.handover == Handover::kRefused) unmark_submitted(folder);
      if (answer.handover != Handover::kAccepted) continue;
      if (const auto noted = record_id(folder, (*told)[at].id); !noted) {
        answer = {Handover::kUnknown, "", noted.error().text};
      }
    }
    return answers;
  }

  Result<> release(std::span<const RunRef> runs) override {
    Json jobs = Json::array();
    for (const RunRef& run : runs) {
      const RunFolder folder = folder_of(run.reservation);
      if (!was_submitted(folder) || !is_of(folder, run) || local::has_begun(folder)) continue;
      TRY(local::note_handing_over(folder));
      jobs.push_back(named(run));
    }
    return act("release", std::move(jobs));
  }

  std::vector<RunStatus> status(std::span<const RunRef> runs) override {
    std::vector<RunStatus> answers;
    look_for(runs);
    for (const RunRef& run : runs) {
      const RunFolder folder = folder_of(run.reservation);
      if (local::is_used(folder) && !is_of(folder, run)) {
        answers.push_back({.state = RunState::kForeign, .elapsed = std::nullopt});
        continue;
      }
      std::optional<Answer> answer;
      const auto look = known_.find(job_name(run));
      std::string problem;
      if (look != known_.end()) {
        answer = look->second.answer;
        problem = look->second.problem;
      }
      const bool nowhere = answer && answer->answer == "absent";
      FolderFacts facts = facts_of(folder, nowhere, settle_);
      facts.had_started = look != known_.end() && look->second.had_started;
      RunStatus status = decide(answer, problem, facts);
      if (const auto owner = local::owner_of(folder)) {
        status.arms = owner->arms;
        status.deadline = owner->deadline;
      }
      status.released = local::handed_over(folder).times;
      answers.push_back(std::move(status));
    }
    return answers;
  }

  Result<Receipts> collect(const RunRef& run) override { return local_->collect(run); }

  Result<> cancel(const RunRef& run) override {
    const RunFolder folder = folder_of(run.reservation);
    if (!local::is_used(folder) || !is_of(folder, run) || os::exists(folder.done())) return Ok{};
    TRY(os::write_file(folder.cancelled(), "cancelled\n"));
    return end(run, false);
  }

  Result<> kill(const RunRef& run) override { return end(run, true); }

  Result<Capacity> capacity(const PairRequest& like) override {
    Json need = size_of(like);
    need["schema_version"] = kSchema;
    return parse_capacity(TRY(ask("capacity", need))).in(program("capacity"));
  }

 private:
  struct Look {
    std::optional<Answer> answer;
    std::string problem;
    bool had_started = false;  // Before the scheduler was asked.
  };

  RunFolder folder_of(const std::string& reservation) const {
    return {fmt::format("{}/runs/{}", state_dir_, reservation)};
  }
  std::string program(const std::string& verb) const { return plug_in_ + "/" + verb; }

  Json named(const RunRef& run) const {
    return {{"name", job_name(run)}, {"id", recorded_id(folder_of(run.reservation))}};
  }
  static Json size_of(const PairRequest& request) {
    Json size{{"accelerators", most_accelerators(request)},
              {"cpus", std::max(1, most_cpus(request))},
              {"time_limit_s", to_seconds(longest_run(request)) + 120}};
    if (request.spec.memory_limit_mb) size["memory_mb"] = *request.spec.memory_limit_mb;
    return size;
  }
  Json job_of(const PairRequest& request) const {
    const RunRef run{request.reservation, request.ticket};
    const RunFolder folder = folder_of(request.reservation);
    Json job = size_of(request);
    job["name"] = job_name(run);
    job["command"] = worker_words(folder);
    job["log"] = fmt::format("{}/launcher/{}.log", state_dir_, job_name(run));
    return job;
  }

  // The answer where the scheduler need not be asked to take it; its folder is ready otherwise.
  std::optional<SubmitAnswer> settle_before(const PairRequest& request) {
    if (request.spec.layout.nodes > 1) {
      return SubmitAnswer{Handover::kRefused, "",
                          "jobs of several nodes need launcher = \"slurm\""};
    }
    const auto there = for_allocation(request);
    if (!there) return SubmitAnswer{Handover::kRefused, "", there.error().text};
    SubmitAnswer kept = local_->submit(std::span(&*there, 1)).front();
    if (kept.handover != Handover::kAccepted) return kept;
    const RunFolder folder = folder_of(request.reservation);
    if (was_submitted(folder)) {
      known_.clear();
      const RunStatus before = status_of(*this, {request.reservation, request.ticket});
      if (!before.worker.empty()) return SubmitAnswer{Handover::kAccepted, before.worker};
      if (before.state == RunState::kLost || before.state == RunState::kFinished) {
        return SubmitAnswer{Handover::kRefused, "", "it has already run"};
      }
      if (before.state != RunState::kAbsent) {
        return SubmitAnswer{Handover::kUnknown, "", before.why};
      }
    }
    if (const auto marked = mark_submitted(folder); !marked) {
      return SubmitAnswer{Handover::kRefused, "", marked.error().text};
    }
    return std::nullopt;
  }

  Result<std::string> ask(const std::string& verb, const Json& question) const {
    const std::string input =
        fmt::format("{}/launcher/{}-{}.json", state_dir_, verb, os::random_hex(6));
    TRY(os::make_dirs(state_dir_ + "/launcher"));
    TRY(os::write_file(input, dump_json(question)));
    std::string text;
    const auto ran = os::run_program(
        {.argv = {program(verb)}, .input = input, .limit = kAnswersWithin},
        [&](std::string_view bytes) -> Result<> {
          text.append(bytes);
          return Ok{};
        },
        nullptr);
    std::error_code ignored;
    std::filesystem::remove(input, ignored);
    if (!ran) return ran.error();
    return text;
  }

  Result<std::vector<Answer>> about(const std::string& verb, Json runs) const {
    std::vector<std::string> names;
    for (const Json& run : runs) names.push_back(run.at("name").get<std::string>());
    const Json question{{"schema_version", kSchema}, {"runs", std::move(runs)}};
    const std::string text = TRY(ask(verb, question));
    return parse_answers(text, names).in(program(verb));
  }

  // For verbs that answer "ok" or give the problem in `reason`.
  Result<> act(const std::string& verb, Json runs) {
    known_.clear();
    if (runs.empty()) return Ok{};
    std::vector<std::string> problems;
    for (const Answer& answer : TRY(about(verb, std::move(runs)))) {
      if (answer.answer != "ok") problems.push_back(answer.name + ": " + answer.reason);
    }
    if (problems.empty()) return Ok{};
    return external(join(problems, "; "));
  }

  Result<> end(const RunRef& run, bool at_once) {
    const RunFolder folder = folder_of(run.reservation);
    if (!was_submitted(folder) || !is_of(folder, run)) return Ok{};
    Json job = named(run);
    job["at_once"] = at_once;
    return act("cancel", Json::array({std::move(job)}));
  }

  // Queries all of them at once if one is unknown since the last query.
  void look_for(std::span<const RunRef> runs) {
    const Nanos now = os::real_clock().monotonic();
    if (now - looked_ >= poll_) known_.clear();
    Json jobs = Json::array();
    std::vector<bool> started;
    for (const RunRef& run : runs) {
      const RunFolder folder = folder_of(run.reservation);
      const bool ours = was_submitted(folder) && is_of(folder, run);
      if (!ours || known_.contains(job_name(run))) continue;
      jobs.push_back(named(run));
      started.push_back(os::exists(folder.started()));
    }
    if (jobs.empty()) return;
    if (known_.empty()) looked_ = now;
    const auto told = about("status", jobs);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      Look& look = known_[jobs[i].at("name").get<std::string>()];
      look.had_started = started[i];
      if (told) look.answer = (*told)[i];
      if (!told) look.problem = told.error().text;
    }
  }

  std::string state_dir_;
  std::string plug_in_;
  Nanos poll_;
  Nanos settle_;
  std::unique_ptr<Launcher> local_;  // Stores requests and reads what the runs left.
  std::map<std::string, Look> known_;
  Nanos looked_{};
};

}  // namespace

std::unique_ptr<Launcher> make(const Site& site) { return std::make_unique<CommandLauncher>(site); }

std::string hardware(const Site& site, const std::string& /*family*/) {
  return "command " + std::filesystem::path(os::absolute(site.plug_in)).filename().string();
}

}  // namespace amdahl::launch::command
