// lease.h: holds the loop's lease during its lifetime, renewed by a thread.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "app/context.h"
#include "base/result.h"

namespace amdahl::app {

class Lease {
 public:
  // kBusy if a living process holds it.
  static Result<std::unique_ptr<Lease>> take(Context& context);
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  // Pass it to every append: the store refuses writers whose lease was taken over.
  std::int64_t fence() const { return token_; }

 private:
  Lease(Context& context, std::int64_t token);
  void renew_until_told(const Config& config);

  ledger::Ledger& ledger_;  // The context's, which outlives the lease.
  std::int64_t token_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread renewer_;
};

}  // namespace amdahl::app
