// torture_bills.h: what a real Slurm's accounting says of jobs that have ended.
#pragma once

#include <map>
#include <string>

namespace amdahl::e2e {

// Of all records of one name, without those whose end is not known.
struct Bill {
  int records = 0;
  double seconds = 0;
  double ended = 0;  // Unix time of the last.
  std::string told;  // As sacct printed them, for people.
};

std::map<std::string, Bill> bills_of_slurm(const std::string& slurm_conf);

}  // namespace amdahl::e2e
