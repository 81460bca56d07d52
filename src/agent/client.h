// client.h: runs an agent's command-line client inside limits, and ends all that it started.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace amdahl::agent {

struct ClientOrder {
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;  // All that it gets.
  std::string workdir;
  std::string input_file;             // On its standard input.
  std::string home;                   // The only folder it may write to.
  std::vector<std::string> readable;  // Folders it may read besides the system's.
  Nanos limit{};
  std::size_t most_bytes = 4 << 20;  // Of each output.
};

struct ClientEnd {
  std::string out;
  std::string errors;
  int exit_code = -1;       // -1: ended by a signal, or never started.
  std::string not_started;  // Why; empty if it started.
  bool timed_out = false;
  bool too_long = false;
  bool stopped = false;
  bool sandboxed = false;
};

// In a process group of its own, in bubblewrap where that works. At the limit, at too much output
// and on `stop`: SIGINT, 4 s later SIGTERM, 1.5 s later SIGKILL, to it and to all its descendants.
// What it leaves running when it ends is killed. Not reentrant.
ClientEnd run_client(const ClientOrder& order, const std::function<bool()>& stop);

// The file that a program's name means on our PATH; empty if there is none.
std::string find_program(const std::string& name);

// Variables of ours that any client gets: PATH, LANG, proxies and certificates.
std::map<std::string, std::string> allowed_environment();

}  // namespace amdahl::agent
