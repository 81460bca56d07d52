// real.h: finds the real function behind an interposed one.
#pragma once

#include <dlfcn.h>

namespace amdahl::inject {

// The next definition of `name` after this library, or libOpenCL's. Nothing here links against
// OpenCL: jobs that do not use it must not need it. nullptr if there is none.
void* find_real(const char* name);

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(find_real(name));
}

}  // namespace amdahl::inject
