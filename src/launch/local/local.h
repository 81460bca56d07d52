// local.h: runs pairs on this machine, each under a worker that outlives its submitter.
#pragma once

#include <memory>
#include <string>

#include "launch/launcher.h"

namespace amdahl::launch::local {

// Runs live in <state_dir>/runs/<reservation>. The worker is this program with the arguments "exec
// --pair DIR", or the program in AMDAHL_WORKER with the same arguments.
std::unique_ptr<Launcher> make(const std::string& state_dir);

// Files in a run's folder; see docs/format/receipt.md.
struct RunFolder {
  std::string path;
  std::string request() const { return path + "/request.json"; }
  // One line per submission: boot id and monotonic time.
  std::string handed() const { return path + "/handed"; }
  std::string claim() const { return path + "/claim"; }  // Locked while a worker is alive.
  std::string started() const { return path + "/started.json"; }
  std::string cancelled() const { return path + "/cancelled"; }
  std::string schedule() const { return path + "/steps"; }  // One letter per step.
  std::string done() const { return path + "/done.json"; }
  std::string log() const { return path + "/worker.log"; }
  std::string out(const std::string& arm) const { return path + "/" + arm; }
  std::string receipt(const std::string& arm) const { return out(arm) + "/receipt.json"; }
};

// Runs the request in its folder, unless a worker has begun it or it was cancelled. Like
// run_pair(), but the request is not read from the folder.
Result<> run_request(const RunFolder& folder, PairRequest request);

}  // namespace amdahl::launch::local
