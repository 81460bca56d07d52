// long_workers.h: parses blocks of lines in several threads and returns them in order.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fleet/table/long_block.h"

namespace amdahl::fleet::table {

// Blocks go to the workers in turn, each with its own parser, so the result depends neither on
// their number nor on their speed. Call from one thread.
class LongWorkers {
 public:
  LongWorkers(int count, const LongColumns& columns, const Zone& zone);
  ~LongWorkers();
  LongWorkers(const LongWorkers&) = delete;
  LongWorkers& operator=(const LongWorkers&) = delete;

  void give(std::string lines);
  std::size_t pending() const { return given_ - taken_; }
  bool is_full() const { return pending() > 2 * workers_.size(); }

  // Waits for the oldest block; `ids` belong to the parser that parsed it.
  using Use = std::function<void(LongBlock& parsed, std::vector<SeriesId>& ids, std::size_t bytes)>;
  void take(const Use& use);

 private:
  struct Job {
    std::string lines;
    LongBlock parsed;
    bool is_done = false;
  };
  struct Worker {
    Worker(const LongColumns& columns, const Zone& zone) : parser{columns, zone} {}
    LongParser parser;
    std::vector<SeriesId> ids;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::unique_ptr<Job>> jobs;  // Oldest first; finished ones at the front.
    bool is_over = false;
    std::thread thread;
  };
  static void work(Worker& worker);

  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Job>> spare_;  // For reuse.
  std::size_t given_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace amdahl::fleet::table
