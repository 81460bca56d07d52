// python.h: which CPython a process runs, and the layout of that version's structures.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "observe/bpf/elf.h"
#include "observe/bpf/record.h"

namespace amdahl::observe {

// Supports CPython 3.9 to 3.13 with the GIL; `runtime` is left 0. `file` is the interpreter's
// file, `state` the linked address of _PyRuntime, `name` the file's name, for versions that do not
// record their own. Nothing for others.
std::optional<waits_python> python_layout(const ElfFile& file, std::uint64_t state,
                                          std::string_view name);

// The interpreter of a running process; nothing if it has none, has not loaded it yet, or runs an
// unsupported one.
std::optional<waits_python> find_python(pid_t process, const std::string& proc_root = "/proc");

}  // namespace amdahl::observe
