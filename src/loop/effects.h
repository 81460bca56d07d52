// effects.h: the events of the loop's decisions, and the interface that stores them.
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

// Events of decisions. They are stored before the loop acts on them.
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
struct GateOpened {  // The store creates the packet.
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
  model::Change baseline;  // The whole baseline, with the change.
};
struct SavingBooked {
  std::string family;
  std::string hypothesis;
  double predicted_share = 0;
};
struct WatchBegan {  // A promoted change goes to production: the store sets up the canary.
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
  model::Change baseline;  // The whole baseline, without the change.
  std::string reason;
};
struct Reopened {  // The key is free: the idea may be proposed again under another id.
  std::string hypothesis;
  std::string reason;
};
using LoopEvent =
    std::variant<CampaignOpened, Registered, Staged, Voted, Compared, GateOpened, GateDecided,
                 Judged, BaselineMoved, SavingBooked, WatchBegan, RolledBack, Reopened>;

// The actor of the loop itself. People and policies at the gate have other names.
inline constexpr std::string_view kActor = "cycle";

// The loop's connection to the outside: a ledger, or the memory of a simulator.
class Effects {
 public:
  virtual ~Effects() = default;
  // Stores all or nothing; kConflict if stored events forbid it.
  virtual Result<> remember(std::string_view actor, std::span<const LoopEvent> together) = 0;
  virtual void say(const std::string& sentence) = 0;  // For progress output.
  virtual Nanos now() = 0;                            // Unix time.
  virtual std::string fresh_seed() = 0;               // 32 hex digits, random.
};

}  // namespace amdahl::loop
