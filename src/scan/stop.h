// stop.h: looks now and then whether a long pass over jobs should end.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace amdahl::scan {

// Asked with the number of the job at hand: one in so many is worth a look. What was stopped is
// not complete: who stopped it must not use it.
class Stop {
 public:
  explicit Stop(std::function<bool()> ask) : ask_{std::move(ask)} {}
  bool operator()(std::size_t job) const { return job % kLook == 0 && now(); }
  bool now() const { return ask_ && ask_(); }

 private:
  static constexpr std::size_t kLook = 4096;
  std::function<bool()> ask_;
};

}  // namespace amdahl::scan
