// context.h: what every verb needs: the configuration, the ledger, a launcher, a clock.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "app/config.h"
#include "base/result.h"
#include "launch/launcher.h"
#include "ledger/ledger.h"
#include "os/clock.h"

namespace amdahl::app {

struct Context {
  Config config;
  os::Clock* clock = nullptr;
  std::unique_ptr<ledger::Ledger> ledger;
  std::unique_ptr<launch::Launcher> launcher;
  std::string hardware;    // Class of what runs get.
  bool allocates = false;  // As launch::Kind.

  // What was last seen in a family's repo, and when; see app/ran_with.h.
  struct Source {
    std::string repo;
    std::string digest;
    Nanos at{};
  };
  std::map<std::string, Source> sources;

  std::string path(std::string_view inside) const;  // Below the state folder.
};

// Makes a folder of the state, or says what to type where that is not permitted.
Result<> make_state(const std::string& folder);

// Opens (and for a writer makes) the state folder and its ledger.
Result<Context> open_context(const Config& config, bool create);

// One event, for callers that append one at a time.
Result<> note(Context& context, ledger::Draft draft, std::int64_t fence = 0);

// Ok, or kNotFound with what to type next.
Result<ledger::Family> need_family(Context& context, const std::string& name);

}  // namespace amdahl::app
