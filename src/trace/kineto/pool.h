// pool.h: parses pieces on several threads and returns the windows in order.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "trace/kineto/frame.h"
#include "trace/kineto/window.h"

namespace amdahl::trace::kineto {

// put() and take() must be called from one thread. Without threads of its own, put() parses.
class ParsePool {
 public:
  explicit ParsePool(int threads);
  ~ParsePool();
  ParsePool(const ParsePool&) = delete;
  ParsePool& operator=(const ParsePool&) = delete;

  // Whether another piece can be put before one must be taken.
  bool has_room() const { return in_flight_.size() < room_; }
  bool empty() const { return in_flight_.empty(); }

  void put(Piece piece);

  struct Done {
    Window window;
    Buffer buffer;  // For reuse.
  };
  // The oldest piece; waits for it.
  Done take();

 private:
  struct Task {
    Piece piece;
    Window window;
    bool done = false;
  };
  void work();

  std::size_t room_;
  std::deque<std::unique_ptr<Task>> in_flight_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task*> waiting_;  // Guarded by mutex_, as are stop_ and the `done` of tasks.
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace amdahl::trace::kineto
