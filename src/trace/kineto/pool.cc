#include "trace/kineto/pool.h"

#include <system_error>
#include <utility>

#include "trace/kineto/piece_parser.h"

namespace amdahl::trace::kineto {

ParsePool::ParsePool(int threads) : room_(threads > 1 ? static_cast<std::size_t>(threads) + 2 : 1) {
  try {
    for (int i = 0; i < threads && threads > 1; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // No more threads available: use those that started, or parse in put().
  }
}

ParsePool::~ParsePool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ParsePool::put(Piece piece) {
  in_flight_.push_back(std::make_unique<Task>());
  Task& task = *in_flight_.back();
  task.piece = std::move(piece);
  if (threads_.empty()) {
    task.window = parse_piece(task.piece, best_parser());
    task.done = true;
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(&task);
  }
  changed_.notify_all();
}

ParsePool::Done ParsePool::take() {
  const std::unique_ptr<Task> task = std::move(in_flight_.front());
  in_flight_.pop_front();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return task->done; });
  return {std::move(task->window), std::move(task->piece.buffer)};
}

void ParsePool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    Task& task = *waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    task.window = parse_piece(task.piece, best_parser());
    lock.lock();
    task.done = true;
    changed_.notify_all();
  }
}

}  // namespace amdahl::trace::kineto
