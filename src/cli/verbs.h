// verbs.h: the table of verbs; help, completion and dispatch read it.
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
  bool hidden;     // Not for people.
  int most_words;  // That may follow it, besides options; -1: any number.
  std::unique_ptr<Flags> (*make_flags)();
  Result<int> (*run)(const Flags&);  // The exit code. The flags are of the type that it makes.
};

std::span<const Verb> verbs();
const Verb* find_verb(std::string_view name);

// The rows' functions, by theme.
Result<int> do_tune(const TuneFlags& flags);
Result<int> do_run(const RunFlags& flags);
Result<int> do_scan(const ScanFlags& flags);
Result<int> do_anatomy(const Flags& flags);
Result<int> do_adopt(const AdoptFlags& flags);
Result<int> do_profile(const ProfileFlags& flags);
Result<int> do_propose(const ProposeFlags& flags);
Result<int> do_brief(const BriefFlags& flags);
Result<int> do_cycle(const CycleFlags& flags);
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
Result<int> do_init(const InitFlags& flags);
Result<int> do_config(const Flags& flags);
Result<int> do_completion(const Flags& flags);
Result<int> do_version(const Flags& flags);
Result<int> do_mcp(const McpFlags& flags);
Result<int> do_exec(const ExecFlags& flags);

std::string_view program_version();   // "0.1.0".
std::string_view program_revision();  // Of git, short; empty outside of a checkout.

// The page of docs/reference that is compiled in; empty if there is none.
std::string_view reference_page(std::string_view verb);

}  // namespace amdahl::cli
