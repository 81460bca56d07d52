// ahead.h: reads the lines of a table of jobs in other threads, and tells in order what they say.
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

// Blocks of whole lines go to the threads in turn; the intake hears of them in their order from
// the thread that calls, so that what it hears does not depend on how many there are.
class Ahead {
 public:
  struct Table {
    std::string header;
    Zone zone;
    bool zone_is_known = false;
  };
  // `first`: the place of the line after the header. `threads` beside the one that calls.
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
  char delimiter_ = '|';           // The first character of it.
  std::ptrdiff_t delimiters_ = 0;  // In the header.
  Where next_;                     // Of the first line of the block that is told next.
  std::string rest_;
  std::deque<std::unique_ptr<Block>> blocks_;  // Oldest first.
  std::vector<std::unique_ptr<Block>> spare_;  // Their memory is used again.
  std::mutex mutex_;                           // Of what follows, and of blocks_.
  std::condition_variable changed_;
  std::size_t begun_ = 0;  // How many of blocks_ a thread has taken up.
  bool is_over_ = false;
  std::vector<std::thread> threads_;  // Last: they use all of the others.
};

}  // namespace amdahl::fleet::slurm
