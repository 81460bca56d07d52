// run.h: runs a command under the supervisor and keeps its receipt and usage record.
#pragma once

#include <string>
#include <vector>

#include "app/config.h"
#include "base/result.h"
#include "model/receipt.h"
#include "model/usage.h"
#include "observe/supervisor.h"
#include "profile/gpus.h"

namespace amdahl::app {

struct RunOptions {
  std::vector<std::string> argv;
  std::string family;    // Empty: from the command's name.
  int accelerators = 0;  // 0: all GPUs, or one CPU slot per usable CPU.
  double time_limit_s = 0;
  double memory_limit_mb = 0;
  bool quiet = false;
  bool no_input = false;  // /dev/null as stdin, as in pairs.
  std::string spec_file;  // Run the job of this spec instead of argv.
  // With the family's promoted changes, except what a canary holds back. Without a command: that
  // of the family's spec.
  bool promoted = false;
};

struct RunOutcome {
  std::string job;
  model::Receipt receipt;
  std::string usage_file;
  std::string receipt_file;
  model::CanaryRun canary;  // What it ran with.
  std::string warning;      // Why it ran as typed although `promoted` was requested.
  // The accelerators of its allocation, if promoted changes use fewer: the rest is kept from the
  // job, and paid for all the same. Else 0.
  int held = 0;
  std::vector<profile::GpuUse> gpus;
};

// From the command line or the spec; flags take precedence. Without ids and folders.
Result<observe::RunOrder> order_of(const RunOptions& options);

Result<RunOutcome> run_job(const Config& config, const RunOptions& options);

// "python3 train.py --lr 1" is a job of the family "train".
std::string family_of(const std::vector<std::string>& argv);

}  // namespace amdahl::app
