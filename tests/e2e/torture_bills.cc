#include "torture_bills.h"

#include "base/text.h"
#include "harness.h"

namespace amdahl::e2e {

std::map<std::string, Bill> bills_of_slurm(const std::string& slurm_conf) {
  const Outcome told = run({"sacct", "-X", "-D", "-n", "-P", "-S", "now-1days", "-E", "now+1days",
                            "-s", "CD,CA,F,TO,NF,PR,BF,DL,OOM,RQ", "-o",
                            "JobName,ElapsedRaw,End,AllocTRES,JobIDRaw,State,Start"},
                           {{"SLURM_CONF", slurm_conf}, {"SLURM_TIME_FORMAT", "%s"}}, "/tmp");
  std::map<std::string, Bill> bills;
  for (const auto line : split(told.out, '\n')) {
    const auto cells = split(line, '|');
    if (cells.size() != 7) continue;
    Bill& bill = bills[std::string(cells[0])];
    bill.told += std::string(line) + '\n';
    if (cells[2] == "Unknown") continue;
    ++bill.records;
    bill.seconds += to_number<double>(cells[1]).value_or(0);
    bill.ended = to_number<double>(cells[2]).value_or(0);
  }
  return bills;
}

}  // namespace amdahl::e2e
