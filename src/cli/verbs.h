// verbs.h: the table of verbs, for help, completion and dispatch.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "cli/options.h"

namespace amdahl::cli {

struct Verb {
  std::string_view name;
  std::string_view summary;
  bool hidden;     // Internal.
  int most_words;  // Maximum positional words; -1: any number.
  std::unique_ptr<Flags> (*make_flags)();
  Result<int> (*run)(const Flags&);  // Returns the exit code. The flags have the verb's own type.
};

std::span<const Verb> verbs();
const Verb* find_verb(std::string_view name);

// Functions of the rows, by theme.
Result<int> do_tune(const TuneFlags& flags);
Result<int> do_run(const RunFlags& flags);
Result<int> do_scan(const ScanFlags& flags);
Result<int> do_anatomy(const Flags& flags);
Result<int> do_adopt(const AdoptFlags& flags);
Result<int> do_profile(const ProfileFlags& flags);
Result<int> do_propose(const ProposeFlags& flags);
Result<int> do_brief(const BriefFlags& flags);
Result<int> do_cycle(const CycleFlags& flags);
Result<int> do_work(const WorkFlags& flags);
Result<int> do_status(const Flags& flags);
Result<int> do_gate(const GateFlags& flags);
Result<int> do_canary(const CanaryFlags& flags);
Result<int> do_stack(const StackFlags& flags);
Result<int> do_ledger(const LedgerFlags& flags);
Result<int> do_dream(const DreamFlags& flags);
Result<int> do_roi(const RoiFlags& flags);
Result<int> do_compare(const CompareFlags& flags);
Result<int> do_sim(const SimFlags& flags);
Result<int> do_serve(const ServeFlags& flags);
Result<int> do_doctor(const Flags& flags);
Result<int> do_launcher(const LauncherFlags& flags);
Result<int> do_clean(const CleanFlags& flags);
Result<int> do_init(const InitFlags& flags);
Result<int> do_config(const Flags& flags);
Result<int> do_completion(const Flags& flags);
Result<int> do_version(const Flags& flags);
Result<int> do_mcp(const McpFlags& flags);
Result<int> do_exec(const ExecFlags& flags);

std::string_view program_version();   // "0.1.0".
std::string_view program_revision();  // Short git revision; empty outside a checkout.

// The compiled-in page of docs/reference; empty if there is none.
std::string_view reference_page(std::string_view verb);

}  // namespace amdahl::cli
