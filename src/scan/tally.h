// tally.h: sums over jobs by user, partition, node and so on, in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "scan/fleet_usage.h"
#include "scan/report.h"
#include "scan/stop.h"

namespace amdahl::scan {

Split scaled(const Split& split, double by);
// The part of the job that its lanes do not show; at least 0 despite rounding.
Split rest_of(const Split& whole, const Split& lanes);

// What a job contributes to each of its groups.
struct JobFigures {
  std::uint32_t job = 0;  // Index into FleetUsage::jobs.
  Split split;
  double queue = 0;
  bool lost = false;
  bool unobserved = false;
  double recoverable = 0;
  double kwh = 0;
  double price = std::numeric_limits<double>::quiet_NaN();  // USD per accelerator-hour.
};

struct MoneySum {  // USD.
  double allocated = 0;
  double wasted = 0;
  double lost = 0;
  double recoverable = 0;
};

struct Sum {
  std::uint64_t jobs = 0;
  std::uint64_t unobserved_jobs = 0;
  double unobserved = 0;  // Allocated to unobserved jobs.
  std::uint64_t lost_jobs = 0;
  Split split;
  double queue = 0;
  double lost = 0;
  double recoverable = 0;
  double kwh = 0;
  MoneySum money;
  double unpriced = 0;  // Accelerator-seconds without a price.
  std::uint32_t worst = 0;
  double worst_wasted = -1;

  void add(const JobFigures& job);
  void add(const Sum& sum);  // Of other jobs.
};

// The total; `wasted` only if anything was observed.
Money money_in(const Sum& sum);

// Maps small numbers to indices in order of first use.
class Slots {
 public:
  // The index of `key`; the current count if it is new.
  std::uint32_t of(std::uint32_t key);
  const std::vector<std::uint32_t>& keys() const { return keys_; }

 private:
  void grow();
  std::size_t at(std::uint32_t key) const;

  std::vector<std::uint32_t> keys_;
  std::vector<std::uint32_t> table_;  // Index + 1; 0: empty.
};

struct Tally {
  Slots slots;
  std::vector<Sum> sums;

  Sum& of(std::uint32_t key) {
    const std::uint32_t slot = slots.of(key);
    if (slot == sums.size()) sums.emplace_back();
    return sums[slot];
  }
};

// Sums by node. Lanes count on their host; the rest of a job is spread evenly over the hosts in
// its record, or counts for the node "" if there are none.
class NodeTally {
 public:
  explicit NodeTally(const FleetUsage& usage) : usage_{usage} {}
  void add(const JobFigures& job);
  std::string_view name_of(std::size_t slot) const { return names_[tally_.slots.keys()[slot]]; }
  const std::vector<Sum>& sums() const { return tally_.sums; }
  // Accelerator-seconds on nodes with unknown capacity.
  double held_elsewhere() const;

 private:
  struct Share {
    WordId node = 0;
    Split split;
  };
  const std::vector<WordId>& nodes_of(WordId hosts);
  WordId node_of(WordId host);
  Share& share_of(WordId node);

  const FleetUsage& usage_;
  Interner names_;
  Tally tally_;
  Slots host_slots_;
  std::vector<WordId> host_nodes_;  // By slot: the node, for a word that is one host.
  Slots list_slots_;
  std::vector<std::vector<WordId>> lists_;  // By slot: the nodes of a host list.
  std::vector<Share> shares_;               // Of the current job.
};

// `states`: the sums by state of the jobs.
Goodput goodput_of(const CapacityUse& capacity, const Sum& all, const Tally& states);

// The utilisation of the job at which half of the observed time is reached, jobs in the order of
// utilisation: by buckets first, so that only the jobs of one are sorted.
std::optional<double> median_utilisation(const JobRows& jobs, const Stop& stop);

}  // namespace amdahl::scan
