#include "fleet/table/synonyms.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "fleet/metrics.h"

namespace amdahl::fleet::table {
namespace {

struct Synonyms {
  Field field;
  std::string_view names;  // Plain, between blanks; the surest first.
};
constexpr auto kSynonyms = std::to_array<Synonyms>({
    {Field::kId,
     "jobid idjob slurmjobid localjobid jobnumber jobno jobuid jobuuid jobkey podid poduid podname "
     "taskid applicationid appid runid workloadid executionid experimentid requestid allocationid "
     "instanceid vmid collectionid jobidentifier clusterid id job pod jobname name uid"},
    {Field::kRaw, "jobidraw rawjobid jobrawid"},
    {Field::kName,
     "jobname name title taskname applicationname application appname workload workloadname "
     "runname experiment experimentname podname executable"},
    {Field::kUser,
     "user username userid iduser jobuser owner submitter login osuser systemusername netid uid "
     "person employee userhash userhashed who subscriptionid"},
    {Field::kAccount,
     "account acct accountname slurmaccount project projectid projectname projname group groupname "
     "groupid "
     "idgroup pi piname team org organization organisation department namespace charge"},
    {Field::kPartition,
     "partition partitionname queuename queue vc virtualcluster subcluster pool nodepool "
     "resourcepool resourcegroup cluster clustername qos resource"},
    {Field::kKind,
     "gputype gpumodel gpukind gpuspec gpuname gpumodelname acceleratortype accelerator "
     "modelname devicetype devicename cardtype cardmodel hardware model"},
    {Field::kScript, "submitline commandline cmdline command cmd scriptpath script jobscript"},
    {Field::kHosts,
     "nodelist hostlist hosts nodes exechost exechosts nodenames hostnames machines nodesused "
     "allocatednodes lastremotehost node host hostname nodename machine machineid machinename "
     "server ip"},
    {Field::kState,
     "state status jobstate jobstatus podphase phase finalstate finalstatus exitstate laststate "
     "outcome result stat"},
    {Field::kSubmit,
     "submittime submit timesubmit submittedtime submitted submissiontime submittedat submitat "
     "submitdate submission submittimets creationtime createtime createdat created "
     "creationtimestamp qtime ctime qdate enqueuetime enqueued arrivaltime arrival arrivedat "
     "timequeued "
     "requesttime"},
    {Field::kStart,
     "starttime start timestart started startedat begin begintime begintimestamp startdate "
     "starttimestamp startts starttimets startepoch scheduledtime scheduledat launchtime "
     "launchedat runstart jobstart jobcurrentstartdate jobstartdate starttimeutc vmcreated "
     "timestamp time date"},
    {Field::kEnd,
     "endtime end timeend ended endedat finish finishtime finished finishedat finishtimestamp "
     "stoptime stop stopped stoppedat completiontime completiondate completed completedat "
     "completetime "
     "endtimestamp endts endtimets endepoch enddate jobend deletiontime deletedat terminatedat "
     "terminationtime endtimeutc vmdeleted"},
    {Field::kElapsed,
     "elapsedraw elapsed elapsedtime duration runtime jobduration runduration jobruntime walltime "
     "walltimeused wallclocktime wallclock wallduration wallseconds executiontime exectime "
     "timeelapsed usedwalltime resourcesusedwalltime remotewallclocktime lifetime"},
    {Field::kAccelerators,
     "gpus ngpus ngpu numgpus numgpu gpunum gpucount gpuscount gpuscnt gpucnt numberofgpus "
     "numberofgpu nogpus allocgpus gpualloc gpusalloc gpusallocated allocatedgpus gpuallocated "
     "numacc nacc naccelerators numaccelerators accelerators acceleratorcount totalgpus totalgpu "
     "gpustotal gpucards cards gpusused usedgpus nvidiacomgpu tresalloc alloctres allocgres "
     "gresalloc gresused tresused gpurequest gpurequested gpusrequested requestedgpus reqgpus "
     "reqgpu gpureq requestgpus gpusprovisioned gpudemand numgpusrequested gputotal gres tres "
     "tresreq reqtres reqgres "
     "gpuspernode gpupernode plangpu capgpu gpucapacity gpucapacitynum gpunumber numdevices "
     "resourcelistngpus "
     "resourcesusedngpus devices gpu"},
    {Field::kHostCount,
     "nnodes numnodes nodenum nodecount nodescount nodesalloc allocnodes nodect numhosts "
     "hostcount numberofnodes nodes hosts instnum workernum numworkers workers replicas"},
    {Field::kUtilisation,
     "gpuutil gpuutilavg gpuutilmean avggpuutil meangpuutil averagegpuutil gpuutilization "
     "gpuutilisation gpuutilizationavg avggpuutilization meangpuutilization "
     "averagegpuutilization gpuutilpct gpuutilpercent gpuutilizationpct gpuutilizationpercent "
     "accutilizationavgpct accutilizationavg accutilization gpueff gpuefficiency gpuusage "
     "avggpuusage meangpuusage gpuactive gpuload smactive smactiveavg avgsmactive gpuwrkutil "
     "jobgpuutil gpu0util"},
    {Field::kTime,
     "timestamp time ts datetime date epoch unixtime timestamputc timeutc sampletime sampledat "
     "collectedat recordedat collectiontime measuredat at times timems timestampms timestampns "
     "timestampus when clock logtime querytime"},
    {Field::kHost,
     "hostname host node nodename nodeid machineid machine machinename server servername instance "
     "hostid computer ip hostip nodeip fqdn sn instanceid vmid vm"},
    {Field::kAccelerator,
     "gpu gpuid gpuindex gpuidx gpunumber gpunum index minornumber deviceid deviceindex device "
     "deviceidx accelerator acceleratorid card cardid slot gpuname localrank"},
    {Field::kUuid, "uuid gpuuuid deviceuuid acceleratoruuid gpuserial"},
    {Field::kSlice, "gpuiid miginstance migid mig gpuinstance gpuinstanceid migdevice"},
    {Field::kJob, "jobid idjob hpcjob slurmjobid slurmjob jobnumber job podname pod jobname"},
    {Field::kMetric, "metric metricname name field counter measurement"},
    {Field::kValue, "value valuea val reading metricvalue sample"},
});

struct UnitName {
  std::string_view name;  // In brackets, or at the end of the name.
  std::string_view ours;
};
// Longer ones first: "ms" ends in "s".
constexpr auto kUnitNames = std::to_array<UnitName>({
    {"milliseconds", "ms"}, {"microseconds", "us"}, {"nanoseconds", "ns"}, {"seconds", "seconds"},
    {"minutes", "minutes"}, {"hours", "hours"},     {"days", "days"},      {"second", "seconds"},
    {"minute", "minutes"},  {"hour", "hours"},      {"day", "days"},       {"secs", "seconds"},
    {"mins", "minutes"},    {"hrs", "hours"},       {"sec", "seconds"},    {"min", "minutes"},
    {"hr", "hours"},        {"ms", "ms"},           {"us", "us"},          {"ns", "ns"},
    {"s", "seconds"},       {"h", "hours"},         {"d", "days"},
});

std::optional<int> rank_in(std::string_view names, std::string_view plain) {
  int rank = 0;
  for (const std::string_view name : split(names, ' ')) {
    if (name == plain) return rank;
    ++rank;
  }
  return std::nullopt;
}

std::string_view names_of(Field field) {
  const auto found = std::ranges::find(kSynonyms, field, &Synonyms::field);
  return found == kSynonyms.end() ? std::string_view() : found->names;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts,
                             [&](std::string_view part) { return text.find(part) != text.npos; });
}

// "metadata.name" of JSON within JSON ends in "name". What is measured is no place or job:
// "utilization.gpu".
std::optional<int> rank_of_end(std::string_view names, const Column& column) {
  constexpr int kLess = 1000;
  for (const std::string_view measured :
       {"util", "mem", "temp", "power", "clock", "fan", "pcie", "ecc", "enc", "dec"}) {
    if (column.plain.starts_with(measured)) return std::nullopt;
  }
  std::string_view end = column.name;
  for (std::size_t point; (point = end.find('.')) != end.npos;) {
    end.remove_prefix(point + 1);
    if (end == "uid") return std::nullopt;  // Of an object, not of a user.
    if (const auto rank = rank_in(names, plain_name(end))) return kLess + *rank;
  }
  return std::nullopt;
}

// Names of a share of time that an accelerator had work.
constexpr std::string_view kBusy =
    "gpuutil gpuutilization gpuutilisation gpuusage gpuuse gpuload gpubusy gpuactivity gpuactive "
    "gpudutycycle utilgpu utilizationgpu utilisationgpu smutil smutilization smutilisation gpusm "
    "util utilization utilisation usage load busy dutycycle sm acceleratorutilization "
    "accutilization acceleratorusage deviceutilization deviceutil devutil gpuutilrate computeutil "
    "gpucompute gpucomputeutil realutil gpuutilavg gpuutilmean systemgpugpu";

// Who measured it, and that it is a mean, says nothing more of it.
std::string_view without_front(std::string_view plain) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view front :
         {"nvidiasmi", "nvidia", "nvml", "dcgm", "average", "avg", "mean", "node", "host"}) {
      if (plain.size() <= front.size() || !plain.starts_with(front)) continue;
      plain.remove_prefix(front.size());
      again = true;
    }
  }
  return plain;
}

std::string_view without_share_unit(std::string_view plain) {
  for (const std::string_view end :
       {"percentage", "percent", "pct", "ratio", "fraction", "value"}) {
    if (plain.size() > end.size() && plain.ends_with(end)) {
      plain.remove_suffix(end.size());
      break;
    }
  }
  return plain;
}

}  // namespace

std::optional<int> says(const Column& column, Field field) {
  const std::string_view names = names_of(field);
  if (const auto rank = rank_in(names, column.plain)) return rank;
  if (const auto rank = rank_of_end(names, column)) return rank;
  const bool timed = field == Field::kElapsed || field == Field::kTime || field == Field::kSubmit ||
                     field == Field::kStart || field == Field::kEnd;
  if (timed) {
    for (const UnitName& unit : kUnitNames) {
      if (!column.plain.ends_with(unit.name)) continue;
      const auto rank = rank_in(
          names, std::string_view(column.plain).substr(0, column.plain.size() - unit.name.size()));
      if (rank) return rank;
    }
  }
  return std::nullopt;
}

std::string_view duration_unit(const Column& column) {
  for (const UnitName& unit : kUnitNames) {
    if (column.unit == unit.name) return unit.ours;
  }
  if (rank_in(names_of(Field::kElapsed), column.plain)) {
    return column.plain == "wallseconds" ? "seconds" : "";
  }
  for (const UnitName& unit : kUnitNames) {
    if (column.plain.ends_with(unit.name)) return unit.ours;
  }
  return {};
}

bool is_of_others(std::string_view plain) {
  return has_any(
      plain, {"mem", "temp", "power", "clock", "clk", "fan", "pcie", "nvlink", "enc", "dec", "ecc",
              "vram", "cpu", "disk", "net", "watt", "error", "count", "limit"});
}

std::string_view metric_of(std::string_view name) {
  if (const UsageMetric* known = find_usage_metric(name)) return known->name;
  const std::string plain = plain_name(name);
  if (is_of_others(plain)) return {};
  if (has_any(plain, {"smactive"})) return "DCGM_FI_PROF_SM_ACTIVE";
  if (has_any(plain, {"grengineactive", "graphicsengineactive"})) {
    return "DCGM_FI_PROF_GR_ENGINE_ACTIVE";
  }
  const std::string_view bare = without_share_unit(without_front(plain));
  if (bare == "gfx" || bare == "gfxactivity" || bare == "gfxbusy" || bare == "gfxutil") {
    return "gpu_gfx_activity";
  }
  return rank_in(kBusy, bare) ? "gpu_util" : std::string_view();
}

std::string_view share_unit(const Column& column) {
  if (column.unit.find('%') != column.unit.npos || column.unit == "percent" ||
      column.unit == "pct" || has_any(column.plain, {"pct", "percent"})) {
    return "percent";
  }
  return has_any(column.plain, {"ratio", "fraction"}) ? "fraction" : "";
}

bool is_exporters(std::string_view name) {
  const UsageMetric* known = find_usage_metric(name);
  if (known == nullptr) return false;
  const std::string small = lower(known->name);
  return small.starts_with("dcgm_") || small.starts_with("nvidia_") ||
         small.starts_with("slurm_") || small.starts_with("amd_") ||
         small.starts_with("utilization.") || small == "gpu_gfx_activity" ||
         small == "gpu_device_utilization";
}

}  // namespace amdahl::fleet::table
