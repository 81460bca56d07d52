// buffered_intake.h: buffers the records of a block of lines, to be passed on in order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/intake.h"

namespace amdahl::fleet::slurm {

// Keeps views into the lines: they must outlive it.
class BufferedIntake final : public Intake {
 public:
  void clear();
  // Passes on everything, in order; positions count from `first`.
  void tell_all(Intake& intake, Where first) const;

  // A job table has jobs, places and troubles, but no series.
  SeriesId series(const model::SeriesKey& key) override;
  void tell(const Record& record) override;

 private:
  struct Other {             // A place if it has words, else a trouble.
    std::size_t before = 0;  // Number of jobs before it.
    bool is_place = false;
    std::string words[3]{};  // Of a place; for a trouble, the first is its text.
    model::Trouble trouble{};
    Where where{};
    std::uint64_t count = 0;  // Above 0: without a position.
  };
  void keep(const Job& job) { jobs_.push_back(job); }
  void keep(const Assignment& place);
  void keep(const Complaint& complaint);
  void keep(const Troubles& troubles);
  Other& another();
  static void tell_one(Intake& intake, const Other& other, Where first);

  std::vector<Job> jobs_;
  std::vector<Other> others_;
};

}  // namespace amdahl::fleet::slurm
