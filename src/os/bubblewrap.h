// bubblewrap.h: a command inside bubblewrap: what it may see, write and reach.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace amdahl::os {

// Paths are absolute. The whole file system is there read-only, except what is hidden: /tmp, /run,
// places where people keep keys, sockets that somebody listens at now, and `hidden`. Of nested
// paths the inner one decides.
struct Jail {
  bool network = false;
  std::vector<std::string> hidden{};    // Folders that are empty inside.
  std::vector<std::string> readable{};  // Shown although they lie in something that is hidden.
  std::vector<std::string> writable{};  // Folders, which must exist.
  std::vector<std::string> fresh{};  // Folders, empty and writable; what is written is gone after.
  std::map<std::string, std::string>
      replaced{};  // Folder to the one that is there instead, writable.
};

// Whether bubblewrap can be used here; `why_not` gets the reason if not. Looks once a process.
bool has_bubblewrap(std::string* why_not = nullptr);
// The same with a network of its own, which some containers do not allow.
bool can_jail(std::string* why_not = nullptr);

// The command that runs `argv` in the jail; `argv.front()` is the program's file. It ends with its
// parent, together with all that it started.
std::vector<std::string> jailed(const Jail& jail, const std::vector<std::string>& argv,
                                const std::string& workdir);

}  // namespace amdahl::os
