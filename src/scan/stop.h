// stop.h: checks from time to time whether a long pass over jobs should stop.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace amdahl::scan {

// Call with the index of the current job; checks once every so many. After a stop the result is
// incomplete and must not be used.
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
