// buffered_intake.h: records of jobs from a block of lines, kept to be passed on in order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/intake.h"

namespace amdahl::fleet::slurm {

// Keeps views of jobs: the lines that they come from must outlive it, or be gone before it is told.
class BufferedIntake final : public Intake {
 public:
  void clear();
  // All of it, in order; places count from `first` on.
  void tell_all(Intake& intake, Where first) const;

  // A table of jobs tells of jobs, places and troubles, and has no series.
  SeriesId series(const model::SeriesKey& key) override;
  void tell(const Record& record) override;

 private:
  struct Other {             // A place if it has words, else a trouble.
    std::size_t before = 0;  // How many jobs came before it.
    bool is_place = false;
    std::string words[3]{};  // Of a place; the text of a trouble is the first.
    model::Trouble trouble{};
    Where where{};
    std::uint64_t count = 0;  // Above 0: without a place.
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
