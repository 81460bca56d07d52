// jobstats.h: reads the summary that Princeton's jobstats stores in a job's AdminComment.
#pragma once

#include <optional>
#include <string_view>

namespace amdahl::fleet::slurm {

// "JS1:" and a packed document: mean utilisation of the job's accelerators, 0 to 1. Nothing if it
// has none ("JS1:Short", "JS1:None") or is something else.
std::optional<double> mean_of_summary(std::string_view admin_comment);

}  // namespace amdahl::fleet::slurm
