#include "os/fault.h"

#include <cstdlib>
#include <string>

#include <signal.h>
#include <unistd.h>

#include "base/text.h"

namespace amdahl::os {
namespace {

struct Fault {
  int at = 0;
  std::string point;
  int signal = SIGKILL;
};

const Fault& fault_wanted() {
  static const Fault fault = [] {
    const char* at = std::getenv("AMDAHL_FAULT_AT");
    const char* point = std::getenv("AMDAHL_FAULT_POINT");
    const char* signal = std::getenv("AMDAHL_FAULT_SIGNAL");
    return Fault{at ? to_number<int>(at).value_or(0) : 0, point ? point : "",
                 signal ? to_number<int>(signal).value_or(SIGKILL) : SIGKILL};
  }();
  return fault;
}

}  // namespace

void fault_point(std::string_view name) {
  const Fault& fault = fault_wanted();
  if (fault.at <= 0) return;
  if (!fault.point.empty() && fault.point != name) return;
  static int calls = 0;
  if (++calls == fault.at) ::kill(::getpid(), fault.signal);
}

}  // namespace amdahl::os
