#include "profile/testing/random_program.h"

#include <random>

namespace amdahl::profile {
namespace {

constexpr int kCommStream = 9;
constexpr std::size_t kRoom = 256;

class Generate {
 public:
  explicit Generate(const ProgramKind& kind) : kind_{kind}, random_{kind.seed} {}

  Program program() {
    Program made;
    made.lags = {.launch = time(4'000, 9'000), .queue = time(800, 2'400)};
    made.lags.stream_wait = time(1'600, 4'000);
    if (kind_.full_queues > 0) made.lags.room = kRoom;
    const int steps = 2 + pick(3);
    for (int rank = 0; rank < kind_.ranks; ++rank) {
      threads_.assign(kind_.helper ? 2 : 1, {});
      recorded_.clear();
      signal_ = 0;
      if (kind_.steps) act({.kind = ActKind::kBeginStep});
      prologue();
      for (int step = 0; step < steps; ++step) this->step(step);
      do_work(Why::kHost, 8, 64);
      if (kind_.steps) act({.kind = ActKind::kEndStep, .event = steps});
      made.ranks.push_back({threads_, kind_.ranks > 1 ? Nanos{pick(1000)} * 1000 : Nanos{}});
    }
    return made;
  }

 private:
  int pick(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most)); }
  // A multiple of 8, so that halves and quarters are whole.
  Nanos time(int least, int most) { return Nanos{(least + pick(most - least)) / 8 * 8}; }
  Nanos micros(int least, int most) { return time(least * 1000, most * 1000); }

  void act(Act act) { threads_[on_].push_back(act); }

  void do_work(Why why, int least, int most) {
    act({.kind = ActKind::kWork, .why = why, .host = micros(least, most)});
  }
  void launch(ActKind kind, int stream, Nanos takes, const char* kernel = "gemm") {
    act({.kind = kind,
         .host = time(1'600, 4'000),
         .device = takes,
         .stream = stream,
         .kernel = kernel});
  }
  void record(int event, int stream) {
    act({.kind = ActKind::kRecord, .host = time(400, 1'200), .stream = stream, .event = event});
    recorded_.push_back(event);
  }
  void wait(int stream, int event) {
    act({.kind = ActKind::kStreamWait, .host = time(400, 1'200), .stream = stream, .event = event});
  }
  void sync(ActKind kind, int stream, int event) {
    act({.kind = kind, .host = time(1'600, 4'000), .stream = stream, .event = event});
  }

  // Shows each lag by itself, so that it can be known.
  void prologue() {
    do_work(Why::kHost, 10, 20);
    for (int i = 0; i < 3; ++i) launch(ActKind::kLaunch, 0, micros(60, 90));
    record(0, 0);
    wait(1, 0);
    launch(ActKind::kLaunch, 1, micros(10, 20));
    sync(ActKind::kSyncDevice, 0, 0);
  }

  // Steps touch each other, and cover all that the first thread does.
  void step(int number) {
    for (int acts = 8 + pick(16); acts > 0; --acts) any();
    if (number < kind_.full_queues) burst();
    if (kind_.helper) help();
    if (kind_.ranks > 1) collective(number);
    for (int acts = 4 + pick(8); acts > 0; --acts) any();
    if (pick(3) > 0) sync(ActKind::kSyncDevice, 0, 0);
    if (!kind_.steps) return;
    act({.kind = ActKind::kEndStep, .event = number});
    act({.kind = ActKind::kBeginStep});
  }

  void any() {
    constexpr Why kRanges[] = {Why::kInput, Why::kLogging, Why::kCheckpoint, Why::kGc};
    switch (pick(13)) {
      case 0:
      case 1:
        return do_work(Why::kHost, 4, 150);
      case 2:
        return do_work(kRanges[pick(4)], 10, 300);
      case 3:
        return act({.kind = ActKind::kSilence, .host = micros(2, kind_.helper ? 18 : 60)});
      case 4:
        return launch(ActKind::kCopy, 3, micros(10, 120));
      case 5:
        return pick(3) > 0 ? void() : launch(ActKind::kBlockingCopy, pick(3), micros(4, 60));
      case 6:
        return record(pick(6), pick(3));
      case 7:
        return wait(pick(4), recorded_[static_cast<std::size_t>(pick(100)) % recorded_.size()]);
      case 8:
        return any_sync();
      default:
        return launch(ActKind::kLaunch, pick(3), micros(3, 160), pick(2) == 0 ? "gemm" : "softmax");
    }
  }

  void any_sync() {
    switch (pick(4)) {
      case 0:
        return sync(ActKind::kSyncDevice, 0, 0);
      case 1:
        return sync(ActKind::kSyncEvent, 0,
                    recorded_[static_cast<std::size_t>(pick(100)) % recorded_.size()]);
      default:
        return sync(ActKind::kSyncStream, pick(3), 0);
    }
  }

  // The gradients of stream 0 are reduced on a stream of its own, and used on stream 0.
  void collective(int number) {
    record(20, 0);
    wait(kCommStream, 20);
    act({.kind = ActKind::kCollective,
         .host = time(1'600, 4'000),
         .device = Nanos{(40 + number * 16) * 1000},
         .stream = kCommStream,
         .event = number});
    record(21, kCommStream);
    wait(pick(2), 21);
    launch(ActKind::kLaunch, pick(2), micros(3, 160));
  }

  // The first thread sleeps while the second works.
  void help() {
    act({.kind = ActKind::kWake, .event = signal_});
    on_ = 1;
    act({.kind = ActKind::kSleep, .event = signal_});
    do_work(Why::kHost, 30, 90);
    for (int i = 2 + pick(3); i > 0; --i) {
      launch(ActKind::kLaunch, pick(3), micros(3, 90));
      do_work(Why::kHost, 8, 40);
    }
    act({.kind = ActKind::kWake, .event = signal_ + 1});
    on_ = 0;
    act({.kind = ActKind::kSleep, .event = signal_ + 1});
    signal_ += 2;
    do_work(Why::kHost, 30, 60);
  }

  void burst() {
    for (std::size_t i = 0; i < kRoom + 60; ++i) {
      launch(ActKind::kLaunch, 0, micros(70, 90));
    }
    sync(ActKind::kSyncStream, 0, 0);
  }

  ProgramKind kind_;
  std::mt19937 random_;
  std::vector<std::vector<Act>> threads_;
  std::vector<int> recorded_;
  std::size_t on_ = 0;  // Thread.
  int signal_ = 0;
};

}  // namespace

Program random_program(const ProgramKind& kind) { return Generate(kind).program(); }

}  // namespace amdahl::profile
