// range_job.cpp: speaks NVTX as its header does: loads the library that the variable names, lets
// it fill in the functions, and calls those that were filled in.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>
#include <unistd.h>

namespace {

using Function = void (*)();

Function core[16];
Function core2[16];
Function* core_table[16];
Function* core2_table[16];

int table_of(int module, Function*** table, unsigned* size) {
  *size = 16;
  *table = module == 1 ? core_table : module == 5 ? core2_table : nullptr;
  return *table ? 1 : 0;
}

struct Callbacks {
  std::size_t struct_size;
  int (*get)(int, Function***, unsigned*);
};
const Callbacks kCallbacks{sizeof(Callbacks), table_of};

const void* export_table(std::uint32_t id) { return id == 1 ? &kCallbacks : nullptr; }

void nap() {
  const timespec time{0, 20'000'000};
  ::nanosleep(&time, nullptr);
}

}  // namespace

int main() {
  for (int i = 1; i < 16; ++i) {
    core_table[i] = &core[i];
    core2_table[i] = &core2[i];
  }
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  void* library = path ? ::dlopen(path, RTLD_LAZY) : nullptr;
  if (!library) return 77;
  using Begin = int (*)(const void* (*)(std::uint32_t));
  const auto begin = reinterpret_cast<Begin>(::dlsym(library, "InitializeInjectionNvtx2"));
  if (!begin || begin(export_table) != 1) return 1;

  const auto push = reinterpret_cast<int (*)(const char*)>(core[9]);
  const auto pop = reinterpret_cast<int (*)()>(core[11]);
  const auto start = reinterpret_cast<std::uint64_t (*)(const char*)>(core[5]);
  const auto end = reinterpret_cast<void (*)(std::uint64_t)>(core[7]);
  if (!push || !pop || !start || !end) return 1;
  push("outer \"quoted\"");
  const std::uint64_t id = start("across");
  nap();
  push("inner");
  nap();
  pop();
  // A child writes its own file.
  if (const pid_t child = ::fork(); child == 0) {
    push("in the child");
    pop();
    std::exit(0);
  }
  pop();
  end(id);
  return pop() == -1 ? 0 : 1;  // One too many is no crash.
}
