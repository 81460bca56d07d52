// context.h: what every verb needs: configuration, ledger, launcher, clock.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "app/config.h"
#include "base/result.h"
#include "launch/launcher.h"
#include "ledger/ledger.h"
#include "os/clock.h"

namespace amdahl::app {

// What a patch does to a commit, as git says.
struct PatchEffect {
  std::string edits;  // model::describe_edits(), in the canonical spelling of the code.
  std::string diff;   // Plain; the paths in it are those that git applied the patch to.
};

struct Context {
  Config config;
  os::Clock* clock = nullptr;
  std::unique_ptr<os::Clock> ledger_clock;  // What `clock` is if this machine's is wrong.
  std::unique_ptr<ledger::Ledger> ledger;
  std::unique_ptr<launch::Launcher> launcher;
  std::string hardware;                             // Hardware class of runs,
  std::map<std::string, std::string> own_hardware;  // and of families with settings of their own.
  bool allocates = false;                           // As in launch::Kind.

  // State of a family's repo when last read, and when; see app/ran_with.h.
  struct Source {
    std::string repo;
    std::string digest;
    Nanos at{};
  };
  std::map<std::string, Source> sources;
  // By commit, baseline and patch; nothing if it does not apply. See app/change_key.h.
  std::map<std::string, std::optional<PatchEffect>> patch_effects;

  std::string path(std::string_view inside) const;  // Below the state folder.
  const std::string& hardware_for(const std::string& family) const;
};

// Creates a folder of the state; the error says what to type if that is not permitted.
Result<> make_state(const std::string& folder);

// Opens the state folder and its ledger; creates them for a writer.
Result<Context> open_context(const Config& config, bool create);

// Appends one event.
Result<> note(Context& context, ledger::Draft draft, std::int64_t fence = 0);

// Ok, or kNotFound with what to type next.
Result<ledger::Family> need_family(Context& context, const std::string& name);

}  // namespace amdahl::app
