// ranking.h: a fleet's sums, kept so that any page of rows can be made without another scan.
#pragma once

#include <memory>
#include <string>

#include "scan/report.h"

namespace amdahl::scan {

struct PageOptions {
  By by = By::kFamily;
  Order order = Order::kRecoverable;
  std::size_t skip = 0;
  std::size_t rows = 50;
  std::string search{};  // In the name, in any case; of a job also its name, user and account.
  std::string family{};  // For jobs: only those of this family; empty: all.
};

// Not thread-safe.
class Ranking {
 public:
  // `usage` and `families` must outlive it. As report().
  Ranking(const FleetUsage& usage, const Families& families, Memories memory,
          ReportOptions options);
  ~Ranking();
  Ranking(const Ranking&) = delete;
  Ranking& operator=(const Ranking&) = delete;

  const Report& report() const { return report_; }

  // The rows of one page, and how many match in all; without Pareto curves. Linear in the rows
  // of the grouping.
  Cut page(const PageOptions& options);

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
  Report report_;
};

}  // namespace amdahl::scan
