// clock_shift.cc: preloaded into one process, a wall clock that is wrong by CLOCK_SHIFT_S seconds;
// what the process starts has the right one.
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>

namespace {

using Gettime = int (*)(clockid_t, timespec*);

const long shift = [] {
  const char* seconds = std::getenv("CLOCK_SHIFT_S");
  const long shifted = seconds ? std::atol(seconds) : 0;
  ::unsetenv("LD_PRELOAD");
  ::unsetenv("CLOCK_SHIFT_S");
  return shifted;
}();

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) {
  static const auto real = reinterpret_cast<Gettime>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = real(clock, time);
  if (clock == CLOCK_REALTIME && result == 0) time->tv_sec += shift;
  return result;
}
