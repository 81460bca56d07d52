// memory.h: the simulated loop's store: as much of a ledger as the tables need.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "loop/effects.h"
#include "sim/drive.h"
#include "sim/random.h"

namespace amdahl::sim {

class Memory : public loop::Effects {
 public:
  // `campaign` has one outcome per number, and must outlive this.
  Memory(Campaign& campaign, std::uint64_t seed);

  Result<> remember(std::string_view actor, std::span<const loop::LoopEvent> together) override;
  void say(const std::string&) override {}
  Nanos now() override { return from_seconds(clock_h * 3600); }
  std::string fresh_seed() override { return seeds_.hex(32); }

  std::vector<std::string> at_gate;  // Experiments at the gate; whoever decides removes them.
  std::map<std::string, model::Change> baselines;  // By family, once changed.
  double clock_h = 0;
  double log_level = 0;  // Level for the panel.

 private:
  Outcome& of(const std::string& id);
  void keep(const loop::CampaignOpened&) {}
  void keep(const loop::Registered&) {}
  void keep(const loop::Staged& staged);
  void keep(const loop::Voted& voted);
  void keep(const loop::Compared& compared);
  void keep(const loop::GateOpened& gate) { at_gate.push_back(gate.experiment); }
  void keep(const loop::GateDecided&) {}
  void keep(const loop::Judged& judged);
  void keep(const loop::BaselineMoved& moved) { baselines[moved.family] = moved.baseline; }
  void keep(const loop::SavingBooked&) {}
  void keep(const loop::WatchBegan&) {}
  void keep(const loop::RolledBack& rolled);
  void keep(const loop::Reopened& reopened);

  Campaign& campaign_;
  Stream seeds_;
};

// The check's bit in Outcome::refuted_by and similar fields.
std::uint32_t bit_of(const std::string& check);

}  // namespace amdahl::sim
