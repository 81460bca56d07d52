// compare_run.h: runs the arms of a comparison and makes pairs from their receipts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/compare_folder.h"
#include "app/compare_pair.h"
#include "app/config.h"
#include "base/result.h"
#include "launch/launcher.h"
#include "model/receipt.h"

namespace amdahl::app {

inline constexpr std::string_view kInterrupted = "interrupted";  // Reason of a void pair.

class CompareRuns {
 public:
  // The folder must outlive it.
  CompareRuns(const Config& config, const CompareFolder& folder, const CompareWatch& watch);

  // Runs one arm once to warm up caches. Fails if the arm cannot run or its number is missing.
  Result<> warm_up(bool is_a, CompareProgress progress);

  // Void if an arm failed or was interrupted by ^C.
  Result<model::PairFact> pair(model::Purpose purpose, int index, const CompareProgress& progress);

  bool stopped() const;  // ^C reached us or the running arm.
  double seconds_of_a() const { return seconds_a_; }
  double seconds_a_pair() const;

 private:
  const model::Spec& spec_of(model::Purpose purpose, bool is_a) const;
  Result<model::Receipt> run(const model::Spec& spec, bool is_a, const std::string& out_dir,
                             CompareProgress progress);
  Result<launch::Receipts> one_by_one(model::Purpose purpose, int index, bool b_second,
                                      const CompareProgress& progress);
  Result<launch::Receipts> at_once(model::Purpose purpose, int index, bool b_second,
                                   CompareProgress progress);
  void note_time(const model::Receipt& receipt, bool is_a);

  const Config& config_;
  const CompareFolder& folder_;
  const CompareWatch& watch_;
  bool cancelled_ = false;
  double seconds_a_ = 0;  // Of the latest run.
  double seconds_b_ = 0;
};

}  // namespace amdahl::app
