// opens.h: watches which files below a folder are opened while something runs.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "os/fd.h"

namespace amdahl::os {

// Sees every open of a file in the folder and in the folders that it holds at the start, without
// hidden ones and `except`. Costs the programs that open them nothing.
class OpenedFiles {
 public:
  explicit OpenedFiles(const std::string& folder, const std::string& except = {});
  OpenedFiles(const OpenedFiles&) = delete;
  OpenedFiles& operator=(const OpenedFiles&) = delete;
  ~OpenedFiles();

  // Ends the watch: paths of files, relative to the folder. Empty if the kernel cannot tell, or
  // could not tell all.
  std::set<std::string> stop();

 private:
  void watch(const std::filesystem::path& folder);
  void drain();
  void read_events();

  std::filesystem::path folder_;
  Fd events_;
  Fd wake_;
  std::map<int, std::string> watched_;  // To the folder's path, relative, with its slash.
  std::set<std::string> opened_;
  bool lost_ = false;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace amdahl::os
