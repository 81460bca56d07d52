// verbs.h: the table of verbs; help, completion and dispatch read it.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "cli/options.h"

namespace amdahl::cli {

struct Verb {
  std::string_view name;
  std::string_view summary;
  bool hidden;                       // Not for people.
  int most_words;                    // That may follow it, besides options; -1: any number.
  Result<int> (*run)(const Flags&);  // The exit code.
};

std::span<const Verb> verbs();
const Verb* find_verb(std::string_view name);

// The rows' functions, by theme.
Result<int> do_tune(const Flags& flags);
Result<int> do_run(const Flags& flags);
Result<int> do_scan(const Flags& flags);
Result<int> do_anatomy(const Flags& flags);
Result<int> do_adopt(const Flags& flags);
Result<int> do_profile(const Flags& flags);
Result<int> do_propose(const Flags& flags);
Result<int> do_cycle(const Flags& flags);
Result<int> do_status(const Flags& flags);
Result<int> do_gate(const Flags& flags);
Result<int> do_canary(const Flags& flags);
Result<int> do_stack(const Flags& flags);
Result<int> do_ledger(const Flags& flags);
Result<int> do_dream(const Flags& flags);
Result<int> do_roi(const Flags& flags);
Result<int> do_compare(const Flags& flags);
Result<int> do_sim(const Flags& flags);
Result<int> do_doctor(const Flags& flags);
Result<int> do_init(const Flags& flags);
Result<int> do_config(const Flags& flags);
Result<int> do_completion(const Flags& flags);
Result<int> do_version(const Flags& flags);
Result<int> do_exec(const Flags& flags);

// The page of docs/reference that is compiled in; empty if there is none.
std::string_view reference_page(std::string_view verb);

}  // namespace amdahl::cli
