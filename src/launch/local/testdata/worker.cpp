// What `amdahl exec --pair DIR` does, without the rest of amdahl: the worker of this room's tests.
#include <cstdio>
#include <cstring>

#include "launch/launcher.h"

int main(int argc, char** argv) {
  if (argc != 4 || std::strcmp(argv[1], "exec") != 0 || std::strcmp(argv[2], "--pair") != 0) return 2;
  const auto ran = amdahl::launch::run_pair(argv[3]);
  if (ran) return 0;
  std::fprintf(stderr, "%s\n", ran.error().text.c_str());
  return 3;
}
