#include "fleet/table/long_workers.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace amdahl::fleet::table {

LongWorkers::LongWorkers(int count, const LongColumns& columns, const Zone& zone) {
  CHECK(count > 0);
  for (int i = 0; i < count; ++i) {
    workers_.push_back(std::make_unique<Worker>(columns, zone));
    Worker& worker = *workers_.back();
    worker.thread = std::thread([&worker] { work(worker); });
  }
}

LongWorkers::~LongWorkers() {
  for (const auto& worker : workers_) {
    {
      const std::lock_guard lock(worker->mutex);
      worker->is_over = true;
    }
    worker->changed.notify_all();
    worker->thread.join();
  }
}

void LongWorkers::work(Worker& worker) {
  std::unique_lock lock(worker.mutex);
  while (true) {
    Job* next = nullptr;
    worker.changed.wait(lock, [&] {
      const auto at = std::find_if(worker.jobs.begin(), worker.jobs.end(),
                                   [](const auto& job) { return !job->is_done; });
      next = at == worker.jobs.end() ? nullptr : at->get();
      return next || worker.is_over;
    });
    if (worker.is_over) return;
    lock.unlock();
    next->parsed.clear();
    worker.parser.parse(next->lines, next->parsed);
    lock.lock();
    next->is_done = true;
    worker.changed.notify_all();
  }
}

void LongWorkers::give(std::string lines) {
  std::unique_ptr<Job> job;
  if (spare_.empty()) {
    job = std::make_unique<Job>();
  } else {
    job = std::move(spare_.back());
    spare_.pop_back();
  }
  job->lines = std::move(lines);
  job->is_done = false;
  Worker& worker = *workers_[given_++ % workers_.size()];
  {
    const std::lock_guard lock(worker.mutex);
    worker.jobs.push_back(std::move(job));
  }
  worker.changed.notify_all();
}

void LongWorkers::take(const Use& use) {
  CHECK(pending() > 0);
  Worker& worker = *workers_[taken_++ % workers_.size()];
  std::unique_ptr<Job> job;
  {
    std::unique_lock lock(worker.mutex);
    worker.changed.wait(lock, [&] { return worker.jobs.front()->is_done; });
    job = std::move(worker.jobs.front());
    worker.jobs.pop_front();
  }
  use(job->parsed, worker.ids, job->lines.size());
  spare_.push_back(std::move(job));
}

}  // namespace amdahl::fleet::table
