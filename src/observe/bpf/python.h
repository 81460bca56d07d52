// python.h: which CPython a process runs, and where that version keeps what its threads do.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "observe/bpf/elf.h"
#include "observe/bpf/record.h"

namespace amdahl::observe {

// Of CPython 3.9 to 3.13 with its lock (GIL); the address of its state is left 0. `file` holds the
// interpreter, `state` is where its _PyRuntime is linked to, `name` the file's, for versions that
// do not tell theirs. Nothing for others.
std::optional<waits_python> python_layout(const ElfFile& file, std::uint64_t state,
                                          std::string_view name);

// The interpreter of a process that lives; nothing if it runs none, has not loaded it yet, or runs
// one that we do not know.
std::optional<waits_python> find_python(pid_t process, const std::string& proc_root = "/proc");

}  // namespace amdahl::observe
