// pool.h: parses pieces on several threads and gives the windows back in order.
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

// For one thread that puts and takes. With no threads of its own it parses in put().
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
    Buffer buffer;  // To use again.
  };
  // The oldest that was put; waits for it.
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
  std::deque<Task*> waiting_;  // Guarded by mutex_, as are `done` of tasks and stop_.
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace amdahl::trace::kineto
