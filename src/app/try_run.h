// try_run.h: runs the arms of a comparison and makes pairs of what they leave.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/config.h"
#include "app/try_folder.h"
#include "app/try_pair.h"
#include "base/result.h"
#include "launch/launcher.h"
#include "model/receipt.h"

namespace amdahl::app {

inline constexpr std::string_view kInterrupted = "interrupted";  // Why such a pair is void.

class TryRuns {
 public:
  // The folder must outlive it.
  TryRuns(const Config& config, const TryFolder& folder, const TryWatch& watch);

  // One arm once, for nothing but the caches. An arm that cannot run, or whose number is missing,
  // is the error.
  Result<> warm_up(bool is_a, TryProgress progress);

  // Void if an arm failed, or was cut short by ^C.
  Result<model::PairFact> pair(model::Purpose purpose, int index, const TryProgress& progress);

  bool stopped() const;  // ^C reached us or the arm under way.
  double seconds_of_a() const { return seconds_a_; }
  double seconds_a_pair() const;

 private:
  const model::Spec& spec_of(model::Purpose purpose, bool is_a) const;
  Result<model::Receipt> run(const model::Spec& spec, bool is_a, const std::string& out_dir,
                             TryProgress progress);
  Result<launch::Receipts> one_by_one(model::Purpose purpose, int index, bool b_second,
                                      const TryProgress& progress);
  Result<launch::Receipts> at_once(model::Purpose purpose, int index, bool b_second,
                                   TryProgress progress);
  void note_time(const model::Receipt& receipt, bool is_a);

  const Config& config_;
  const TryFolder& folder_;
  const TryWatch& watch_;
  bool cancelled_ = false;
  double seconds_a_ = 0;  // Of the latest run.
  double seconds_b_ = 0;
};

}  // namespace amdahl::app
