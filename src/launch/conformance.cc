#include "launch/conformance.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::launch {
namespace {

constexpr auto kRules = std::to_array<Rule>({
    {"one-answer-each", "submit() and status() answer each run, in the order of the question"},
    {"accepts", "a request that can run is accepted, with a worker_run_id of its own"},
    {"held-until-released", "what was submitted is held and does not start"},
    {"found-by-reservation", "a new process finds a run by its reservation"},
    {"release-starts", "a released run starts and finishes"},
    {"releases-no-other", "releasing one run starts no other"},
    {"runs-once", "a run runs once, however often it is submitted or released"},
    {"receipts", "a finished run has both receipts, and its arms ran in the order asked for"},
    {"failure-is-a-receipt", "a failed job is a finished run, and its receipt reports the failure"},
    {"shows-running", "a run whose worker is alive is running"},
    {"ticket", "a run is shown and given only to the holder of its ticket"},
    {"cancel-held", "a run that is cancelled before it starts never starts"},
    {"cancel-ends", "a run that is cancelled ends; cancelling it again is harmless"},
    {"invents-nothing", "what was never submitted is absent or unknown, and has no receipts"},
    {"charge", "what is charged covers the arms, and no more than the time that passed"},
    {"capacity",
     "capacity names the hardware, and reports jobs that are too large as never starting"},
    {"no-shell", "no character of a name or an argument is interpreted"},
});

constexpr Nanos kLook = std::chrono::milliseconds(100);
constexpr Nanos kChargeSlack = std::chrono::seconds(3);  // Schedulers count whole seconds.
constexpr int kTooMany = 1000000;

bool is_over(RunState state) {
  return state == RunState::kFinished || state == RunState::kLost || state == RunState::kTimedOut ||
         state == RunState::kOutOfMemory || is_infrastructure(state);
}

class Bench {
 public:
  explicit Bench(const Trial& trial)
      : trial_{trial}, launcher_{trial.make()}, tag_{os::random_hex(6)} {}

  std::vector<Breach> run() {
    if (const auto made = os::make_dirs(trial_.folder); !made) {
      breach("accepts", made.error().text);
      return breaches_;
    }
    try_life();
    try_twice();
    try_running();
    try_failure();
    try_names();
    try_nothing();
    try_capacity();
    return breaches_;
  }

 private:
  void breach(std::string_view rule, const std::string& what) {
    const bool known = std::ranges::find(breaches_, rule, &Breach::rule) != breaches_.end();
    if (!known) breaches_.push_back({std::string(rule), what});
  }
  bool expect(bool good, std::string_view rule, const std::string& what) {
    if (!good) breach(rule, what);
    return good;
  }

  PairRequest request(const std::string& name, const std::string& a, const std::string& b) const {
    PairRequest made;
    made.reservation = fmt::format("r-{}-{}", name, tag_);
    made.ticket = os::random_hex(16);
    made.ledger = "conformance";
    made.spec.family = "conformance";
    made.spec.command = {"sh", "-c", a};
    made.spec.workdir = trial_.folder;
    made.spec.time_limit = std::chrono::seconds(60);
    made.a.argv = made.spec.command;
    made.a.workdir = trial_.folder;
    made.b = made.a;
    made.b.argv = {"sh", "-c", b};
    made.variant_second = true;
    return made;
  }
  // Both arms leave a line in a file of the run's own.
  PairRequest writer(const std::string& name) const {
    const std::string file = name + "-" + tag_;
    return request(name, "echo a >> " + file, "echo b >> " + file);
  }
  std::string text_in(const std::string& name) const {
    const auto text = os::read_file(fmt::format("{}/{}-{}", trial_.folder, name, tag_));
    return text ? *text : "";
  }

  static RunRef ref(const PairRequest& request) { return {request.reservation, request.ticket}; }
  RunStatus status(const PairRequest& request) { return status_of(*launcher_, ref(request)); }

  // One request; whether it was accepted.
  bool submit(const PairRequest& request) {
    const auto answers = launcher_->submit(std::span(&request, 1));
    if (!expect(answers.size() == 1, "one-answer-each",
                fmt::format("{} answers to 1 request", answers.size()))) {
      return false;
    }
    return expect(answers[0].handover == Handover::kAccepted && !answers[0].worker.empty(),
                  "accepts", fmt::format("{}: {}", request.reservation, answers[0].reason));
  }
  bool release(const PairRequest& request) {
    const RunRef run = ref(request);
    const auto done = launcher_->release(std::span(&run, 1));
    return expect(bool{done}, "release-starts", done ? "" : done.error().text);
  }

  template <class Good>
  RunStatus wait(const PairRequest& request, Good good, Nanos limit) {
    const Nanos until = os::real_clock().monotonic() + limit;
    while (true) {
      const RunStatus now = status(request);
      if (good(now) || os::real_clock().monotonic() > until) return now;
      os::real_clock().sleep(kLook);
    }
  }
  RunStatus wait_over(const PairRequest& request) {
    return wait(
        request, [](const RunStatus& s) { return is_over(s.state); }, trial_.patience);
  }
  static std::string shown(const RunStatus& status) {
    return fmt::format("it is {}{}{}", name(status.state), status.why.empty() ? "" : ": ",
                       status.why);
  }
  // A run of a moment, from its release to its end.
  bool finish(const PairRequest& request) {
    if (!release(request)) return false;
    const RunStatus over = wait_over(request);
    return expect(over.state == RunState::kFinished, "release-starts",
                  fmt::format("{}: {}", request.reservation, shown(over)));
  }

  void try_life() {
    const std::vector<PairRequest> both{writer("one"), writer("two")};
    const auto answers = launcher_->submit(both);
    if (!expect(answers.size() == 2, "one-answer-each",
                fmt::format("{} answers to 2 requests", answers.size()))) {
      return;
    }
    for (const SubmitAnswer& answer : answers) {
      if (!expect(answer.handover == Handover::kAccepted, "accepts", answer.reason)) return;
    }
    expect(!answers[0].worker.empty() && answers[0].worker != answers[1].worker, "accepts",
           fmt::format("both runs are '{}'", answers[0].worker));
    launcher_ = trial_.make();
    const std::vector<RunRef> refs{ref(both[1]), {"r-never-" + tag_, "0"}, ref(both[0])};
    const auto statuses = launcher_->status(refs);
    if (!expect(statuses.size() == 3, "one-answer-each",
                fmt::format("{} answers about 3 runs", statuses.size()))) {
      return;
    }
    expect(statuses[0].worker == answers[1].worker && statuses[2].worker == answers[0].worker,
           "found-by-reservation",
           fmt::format("'{}' and '{}' are shown as '{}' and '{}'", answers[1].worker,
                       answers[0].worker, statuses[0].worker, statuses[2].worker));
    os::real_clock().sleep(trial_.watch);
    const RunStatus held = status(both[0]);
    expect(held.state == RunState::kHeld && text_in("one").empty(), "held-until-released",
           shown(held) + (text_in("one").empty() ? "" : ", and its job ran"));
    const Nanos released = os::real_clock().monotonic();
    if (!finish(both[0])) return;
    look_at_end(both[0], os::real_clock().monotonic() - released);
    expect(text_in("two").empty() && status(both[1]).state == RunState::kHeld, "releases-no-other",
           "the other " + shown(status(both[1])));
    cancel_held(both[1]);
  }

  void look_at_end(const PairRequest& one, Nanos passed) {
    const auto receipts = launcher_->collect(ref(one));
    if (!expect(receipts && receipts->a && receipts->b, "receipts",
                receipts ? receipts->problem : receipts.error().text)) {
      return;
    }
    expect(text_in("one") == "a\nb\n", "receipts", "the arms wrote: " + text_in("one"));
    if (const auto charge = status(one).charge) {
      const Nanos arms = receipts->a->wall + receipts->b->wall;
      expect(charge->wall + kChargeSlack >= arms && charge->wall <= passed + kChargeSlack, "charge",
             fmt::format("{} for arms of {}, {} after the release", show_duration(charge->wall),
                         show_duration(arms), show_duration(passed)));
      expect(charge->accelerators >= one.a.accelerators, "charge",
             fmt::format("{} accelerators of {}", charge->accelerators, one.a.accelerators));
    }
    // Again, after its end.
    (void)launcher_->submit(std::span(&one, 1));
    const RunRef run = ref(one);
    (void)launcher_->release(std::span(&run, 1));
    os::real_clock().sleep(trial_.watch);
    expect(text_in("one") == "a\nb\n", "runs-once", "after its end it ran again");
  }

  void cancel_held(const PairRequest& two) {
    const auto cancelled = launcher_->cancel(ref(two));
    expect(bool{cancelled}, "cancel-held", cancelled ? "" : cancelled.error().text);
    const RunRef run = ref(two);
    (void)launcher_->release(std::span(&run, 1));
    const RunStatus over = wait_over(two);
    expect(is_over(over.state), "cancel-held", shown(over));
    os::real_clock().sleep(trial_.watch);
    expect(text_in("two").empty(), "cancel-held", "its job ran");
  }

  void try_twice() {
    const PairRequest twice = writer("twice");
    if (!submit(twice)) return;
    (void)launcher_->submit(std::span(&twice, 1));
    const RunRef run = ref(twice);
    for (int i = 0; i < 2; ++i) (void)launcher_->release(std::span(&run, 1));
    const RunStatus over = wait_over(twice);
    expect(over.state == RunState::kFinished, "runs-once", shown(over));
    os::real_clock().sleep(trial_.watch);
    expect(text_in("twice") == "a\nb\n", "runs-once", "the arms wrote: " + text_in("twice"));
  }

  void try_running() {
    const std::string beat = "beat-" + tag_;
    const PairRequest run =
        request("long", "while true; do echo x >> " + beat + "; sleep 0.1; done", "true");
    if (!submit(run) || !release(run)) return;
    const auto runs = [](const RunStatus& s) {
      return s.state == RunState::kRunning || is_over(s.state);
    };
    const RunStatus running = wait(run, runs, trial_.patience);
    if (!expect(running.state == RunState::kRunning, "shows-running", shown(running))) return;
    const Nanos until = os::real_clock().monotonic() + trial_.patience;
    while (text_in("beat").empty() && os::real_clock().monotonic() < until) {
      os::real_clock().sleep(kLook);
    }
    const RunRef other{run.reservation, os::random_hex(16)};
    const RunState seen = status_of(*launcher_, other).state;
    (void)launcher_->cancel(other);
    expect(seen != RunState::kRunning && !is_over(seen) && !launcher_->collect(other), "ticket",
           fmt::format("with another ticket it is {}", name(seen)));
    for (int i = 0; i < 2; ++i) {
      const auto cancelled = launcher_->cancel(ref(run));
      expect(bool{cancelled}, "cancel-ends", cancelled ? "" : cancelled.error().text);
    }
    const RunStatus over = wait_over(run);
    expect(is_over(over.state), "cancel-ends", shown(over));
    const std::string before = text_in("beat");
    os::real_clock().sleep(trial_.watch);
    expect(text_in("beat") == before, "cancel-ends", "its job goes on");
  }

  void try_failure() {
    const PairRequest fails = request("fails", "exit 3", "true");
    if (!submit(fails) || !finish(fails)) return;
    const auto receipts = launcher_->collect(ref(fails));
    expect(receipts && receipts->a && receipts->a->code == 3, "failure-is-a-receipt",
           receipts ? receipts->problem : receipts.error().text);
  }

  void try_names() {
    const std::string trap = "trap-" + tag_;
    const std::string hostile =
        fmt::format("; touch {0}; $(touch {0}) `touch {0}`\n' \" | & \\ %x *", trap);
    PairRequest odd = request("odd", "true", "true");
    odd.reservation += hostile;
    odd.spec.family = hostile;
    odd.a.argv = odd.b.argv = {"sh", "-c", "printf %s \"$1\" > odd-" + tag_, "sh", hostile};
    const auto answer = launcher_->submit(std::span(&odd, 1));
    // A place may refuse such a name; if it accepts it, it must run it unchanged.
    if (answer.size() == 1 && answer[0].handover == Handover::kAccepted && finish(odd)) {
      expect(text_in("odd") == hostile, "no-shell", "the job got another argument");
    }
    const std::array places{trial_.folder, std::string("."), std::string("/tmp")};
    for (const std::string& place : places) {
      expect(!os::exists(place + "/" + trap), "no-shell", "a part of a name was executed");
    }
  }

  void try_nothing() {
    const RunRef never{"r-nothing-" + tag_, os::random_hex(16)};
    const RunStatus status = status_of(*launcher_, never);
    expect(status.state == RunState::kAbsent || status.state == RunState::kUnknown,
           "invents-nothing", shown(status));
    expect(!launcher_->collect(never), "invents-nothing", "it has receipts");
    expect(bool{launcher_->cancel(never)}, "invents-nothing", "cancelling it fails");
  }

  void try_capacity() {
    PairRequest like = writer("like");
    const auto has = launcher_->capacity(like);
    if (!expect(bool{has}, "capacity", has ? "" : has.error().text)) return;
    expect(!has->hardware.empty() && has->never.empty(), "capacity",
           fmt::format("hardware '{}', {}", has->hardware, has->never));
    if (!has->room) return;
    like.a.accelerators = like.b.accelerators = kTooMany;
    like.a.cpus = like.b.cpus = kTooMany;
    const auto large = launcher_->capacity(like);
    expect(large && !large->never.empty(), "capacity",
           fmt::format("it has room for {} accelerators", kTooMany));
  }

  const Trial& trial_;
  std::unique_ptr<Launcher> launcher_;
  std::string tag_;
  std::vector<Breach> breaches_;
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

std::vector<Breach> conformance(const Trial& trial) { return Bench(trial).run(); }

}  // namespace amdahl::launch
