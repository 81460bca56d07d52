// awaits.h: which device events a runtime call waited for, or may have waited for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profile/host_work.h"

namespace amdahl::profile {

class Awaits {
 public:
  // `launched` is from launched_by(); results are appended to `out`. Keeps references.
  Awaits(const Prepared& prepared, const StreamOrder& order,
         const std::vector<std::uint32_t>& launched, std::vector<Await>& out);

  struct Streams {
    std::span<const std::uint32_t> of_thread;  // Streams that the thread launched to.
    // Streams that any thread of its process launched to.
    std::span<const std::uint32_t> of_process;
  };

  struct Found {
    std::uint32_t first = 0;  // Index into `out`.
    std::uint32_t count = 0;
    Nanos until{};       // When the call's own work starts; its start if it did not wait.
    bool waits = false;  // Waits for work to finish, not for room in a queue.
  };
  Found of(std::uint32_t call, Streams streams);

 private:
  void sync(const model::HostEvent& call, Streams streams);
  void known(const model::HostEvent& call, std::uint32_t stream, Nanos put_before);
  bool ended_in(const model::HostEvent& call, std::span<const std::uint32_t> streams, bool room,
                Nanos not_before = Nanos::min());
  void room(const model::HostEvent& call, std::uint32_t own);
  bool is_blocked(const model::HostEvent& call, std::uint32_t own, std::ptrdiff_t& ahead) const;
  std::uint32_t device_of(const model::HostEvent& call,
                          std::span<const std::uint32_t> of_process) const;
  void find_rooms();

  const Prepared& in_;
  const StreamOrder& order_;
  const std::vector<std::uint32_t>& launched_;
  std::vector<Await>& out_;
  std::vector<std::ptrdiff_t> rooms_;  // By stream: maximum launched but not started; 0: unknown.
  Nanos until_{};
};

}  // namespace amdahl::profile
