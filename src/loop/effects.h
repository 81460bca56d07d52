// effects.h: what a decision leaves behind, and what the loop reaches the world with.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "model/hypothesis.h"
#include "stats/campaign.h"

namespace amdahl::loop {

// What a decision leaves behind, to be remembered before the loop believes it.
struct CampaignOpened {
  std::string id;
  std::string seed;
  stats::Campaign campaign;
};
struct Registered {
  model::Experiment experiment;
};
struct Staged {
  std::string experiment;
  model::Stage stage = model::Stage::kCompare;
};
struct Voted {
  std::string experiment;
  model::Finding finding;
};
struct Compared {
  std::string experiment;
  model::Comparison comparison;
};
struct GateOpened {  // Who remembers it makes the packet.
  std::string experiment;
  model::Comparison comparison;
  std::vector<model::Finding> votes;
  std::string holds_for;
};
struct GateDecided {
  std::string experiment;
  model::GateDecision decision;
};
struct Judged {
  model::Verdict verdict;
};
struct BaselineMoved {
  std::string family;
  std::string hypothesis;
  model::Change baseline;  // The whole of it, with the change.
};
struct SavingBooked {
  std::string family;
  std::string hypothesis;
  double predicted_share = 0;
};
struct WatchBegan {  // A promoted change goes to production: who remembers it sets up the canary.
  std::string family;
  std::string experiment;
  std::string hypothesis;
  double promised = 0;   // ln.
  model::Change before;  // The baseline without the change,
  model::Change after;   // and with it.
};
struct RolledBack {
  std::string family;
  std::string hypothesis;
  model::Change baseline;  // The whole of it, without the change.
  std::string reason;
};
struct Reopened {  // Its key is free: the idea may come again under another id.
  std::string hypothesis;
  std::string reason;
};
using LoopEvent =
    std::variant<CampaignOpened, Registered, Staged, Voted, Compared, GateOpened, GateDecided,
                 Judged, BaselineMoved, SavingBooked, WatchBegan, RolledBack, Reopened>;

// The loop's own name; whoever decides at the gate, rolls back or reopens has another.
inline constexpr std::string_view kActor = "cycle";

// What the loop reaches the world with: a ledger, or a simulator's memory.
class Effects {
 public:
  virtual ~Effects() = default;
  // All or nothing; kConflict if what is remembered forbids it.
  virtual Result<> remember(std::string_view actor, std::span<const LoopEvent> together) = 0;
  virtual void say(const std::string& sentence) = 0;  // For people who watch.
  virtual Nanos now() = 0;                            // Unix time.
  virtual std::string fresh_seed() = 0;               // 32 hex digits, random.
};

}  // namespace amdahl::loop
