// ahead.h: parses lines of a job table in several threads and passes records on in order.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"
#include "fleet/intake.h"
#include "fleet/slurm/buffered_intake.h"
#include "fleet/times.h"

namespace amdahl::fleet::slurm {

// Blocks of whole lines go to the threads in turn. The calling thread passes their records to the
// intake in order, so the result does not depend on the number of threads.
class Ahead {
 public:
  struct Table {
    std::string header;
    Zone zone;
    bool zone_is_known = false;
  };
  // `first`: position of the line after the header. `threads` are in addition to the calling one.
  Ahead(Intake& intake, Table table, Where first, int threads);
  ~Ahead();
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  Result<> feed(std::string_view bytes);
  void finish();

 private:
  struct Block {
    std::string lines;
    std::uint64_t count = 0;  // Of lines.
    BufferedIntake told;
    bool is_done = false;
  };
  void work();
  void give(bool is_last);
  std::size_t cut_before(std::size_t end) const;
  void take();

  Intake& intake_;
  Table table_;
  char delimiter_ = '|';           // Its first character.
  std::ptrdiff_t delimiters_ = 0;  // In the header.
  Where next_;                     // First line of the next block.
  std::string rest_;
  std::deque<std::unique_ptr<Block>> blocks_;  // Oldest first.
  std::vector<std::unique_ptr<Block>> spare_;  // For reuse.
  std::mutex mutex_;                           // Guards what follows, and blocks_.
  std::condition_variable changed_;
  std::size_t begun_ = 0;  // Number of blocks_ that a thread has taken.
  bool is_over_ = false;
  std::vector<std::thread> threads_;  // Last: they use all other members.
};

}  // namespace amdahl::fleet::slurm
