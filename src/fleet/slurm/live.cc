#include "fleet/slurm/live.h"

#include <chrono>

#include <fmt/chrono.h>
#include <fmt/core.h>

namespace amdahl::fleet::slurm {
namespace {

// As Slurm's programs take a time: UTC, because they are run with TZ=UTC.
std::string slurm_time(Nanos at) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
  const auto days = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date{std::chrono::sys_days{days}};
  const std::chrono::hh_mm_ss time{seconds - days};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count());
}

}  // namespace

std::string_view sacct_fields() {
  return "JobID,JobIDRaw,User,Account,Partition,State,Submit,Start,End,ElapsedRaw,TimelimitRaw,"
         "NNodes,NodeList,ReqTRES,AllocTRES,JobName";
}

std::vector<Command> commands(const Ask& ask) {
  const std::map<std::string, std::string> env = {
      {"SLURM_TIME_FORMAT", "%s"}, {"TZ", "UTC"}, {"LC_ALL", "C"}};
  const std::string from = slurm_time(ask.from);
  const std::string to = ask.to > Nanos{} ? slurm_time(ask.to) : "now+1days";

  // -D: a requeued job burnt accelerator time in each attempt; -X: steps say nothing of
  // accelerators that jobs do not; a unit separator, because names may contain "|".
  Command sacct{"sacct",
                "jobs",
                true,
                {"sacct", "-a", "-D", "-X", "-P", "--delimiter=\x1f", "-S", from, "-E", to, "-o",
                 std::string(sacct_fields())},
                env};
  Command sinfo{"sinfo",
                "accelerators of each node",
                false,
                {"sinfo", "-a", "-N", "-o", "%N|%R|%G|%T|%H"},
                env};
  Command sacctmgr{"sacctmgr",
                   "when nodes were down",
                   false,
                   {"sacctmgr", "-P", "show", "event", "start=" + from,
                    "format=Cluster,NodeName,TimeStart,TimeEnd,State,TRES,Reason"},
                   env};
  Command scontrol{"scontrol",
                   "which devices running jobs have",
                   false,
                   {"scontrol", "-a", "-d", "-o", "show", "job"},
                   env};
  if (!ask.cluster.empty()) {
    for (Command* command : {&sacct, &sinfo, &scontrol}) {
      command->argv.insert(command->argv.begin() + 1, "--clusters=" + ask.cluster);
    }
    sacctmgr.argv.push_back("cluster=" + ask.cluster);
  }
  return {sacct, sinfo, sacctmgr, scontrol};
}

}  // namespace amdahl::fleet::slurm
