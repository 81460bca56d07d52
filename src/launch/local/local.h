// local.h: runs pairs on this machine, each under a worker that outlives whoever submitted it.
#pragma once

#include <memory>
#include <string>

#include "launch/launcher.h"

namespace amdahl::launch::local {

// Runs live in <state_dir>/runs/<reservation>. The worker is this program with the words
// "exec --pair DIR", or the program named by AMDAHL_WORKER with the same words.
std::unique_ptr<Launcher> make(const std::string& state_dir);

// What a run's folder holds; docs/format/receipt.md.
struct RunFolder {
  std::string path;
  std::string request() const { return path + "/request.json"; }
  // A line for each time it was submitted: boot and monotonic time.
  std::string handed() const { return path + "/handed"; }
  std::string claim() const { return path + "/claim"; }  // Locked while a worker lives.
  std::string started() const { return path + "/started.json"; }
  std::string cancelled() const { return path + "/cancelled"; }
  std::string schedule() const { return path + "/steps"; }  // One letter a step.
  std::string done() const { return path + "/done.json"; }
  std::string log() const { return path + "/worker.log"; }
  std::string out(const std::string& arm) const { return path + "/" + arm; }
  std::string receipt(const std::string& arm) const { return out(arm) + "/receipt.json"; }
};

// Runs the request in its folder, unless a worker has begun with it or it was cancelled; as
// run_pair(), but of a request that is not read from the folder.
Result<> run_request(const RunFolder& folder, PairRequest request);

}  // namespace amdahl::launch::local
