#include "fleet/unsupported_formats.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace amdahl::fleet {
namespace {

// Whether control characters make up a quarter of how it begins. What is padded with NULs, as a
// crash leaves a log, is text.
bool is_binary(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 256);
  const std::string_view some = head.substr(0, head.find_last_not_of('\0') + 1);
  const auto controls = std::ranges::count_if(some, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 &&
           std::string_view("\t\n\v\f\r\x1B").find(c) == std::string_view::npos;
  });
  return static_cast<std::size_t>(controls) * 4 > some.size();
}

// "[0] NVIDIA A100-SXM4-40GB | 33'C,  37 % | 20480 / 40960 MB | ada(20480M)"
bool is_gpustat(std::string_view head) {
  const std::size_t line = head.find("\n[");
  const bool is_first = head.starts_with("[0] ");
  if (line == head.npos && !is_first) return false;
  const std::string_view row = is_first ? head : head.substr(line + 1);
  const std::string_view cells = row.substr(0, row.find('\n'));
  return cells.find("] ") != cells.npos && cells.find(" MB |") != cells.npos;
}

}  // namespace

std::string_view not_text(std::string_view bytes) {
  if (bytes.starts_with("PK\x03\x04")) return "a zip archive (or a spreadsheet); unpack it first";
  if (bytes.starts_with("PAR1")) return "a Parquet file; write it as CSV first";
  if (bytes.starts_with("SQLite format 3")) return "an SQLite database; write its tables as CSV";
  if (bytes.starts_with("BZh")) return "bzip2; unpack it, or pack it with gzip or zstd";
  if (bytes.starts_with("\xFD"
                        "7zXZ"))
    return "xz; unpack it, or pack it with gzip or zstd";
  if (bytes.size() > 262 && bytes.substr(257, 5) == "ustar")
    return "a tar archive; unpack it first";
  if (bytes.size() >= 64 && bytes[0] != '\0' && bytes[1] == '\0' && bytes[3] == '\0') {
    return "UTF-16 without its mark; convert it: iconv -f UTF-16LE -t UTF-8";
  }
  if (is_binary(bytes)) return "binary; write what it holds as CSV or JSON first";
  return {};
}

std::string output_for_people(std::string_view bytes) {
  constexpr std::string_view kLog =
      "log it: nvidia-smi --query-gpu=timestamp,index,utilization.gpu --format=csv -l 10";
  constexpr std::string_view kSacct = "ask for the jobs: sacct -a -D -P -S now-7days -o ALL";
  constexpr std::string_view kSinfo = "ask for the nodes: sinfo -N -o '%N|%R|%G|%T|%H' > nodes.txt";
  constexpr std::string_view kLsf =
      "ask for whole jobs: bacct -l -u all > jobs.txt (or bhist -a -l -u all), or pass the files "
      "lsb.acct*";
  constexpr std::string_view kPods = "ask for whole pods: kubectl get pods -A -o json > pods.json";
  constexpr std::string_view kQacct =
      "ask for the jobs: qacct -j > jobs.txt, or pass $SGE_ROOT/default/common/accounting";
  constexpr std::string_view kHosts =
      "give the hosts as a table: host,gpu_model,gpu_count, a line each";
  constexpr std::string_view kRocm =
      "log it with times: run AMD's device-metrics-exporter, and scan its Prometheus";
  constexpr std::string_view kTrace = "to see why the job waits, type: amdahl profile FILE";
  struct Sign {
    std::string_view has;
    std::string_view is;
    std::string_view next;
  };
  constexpr auto kSigns = std::to_array<Sign>({
      {"#Entity ", "output of dcgmi dmon, which has no times", kLog},
      {"| NVIDIA-SMI ", "the table that nvidia-smi prints for people", kLog},
      {"<nvidia_smi_log", "XML of nvidia-smi", kLog},
      {"Job Wall-clock time:", "output of seff for one job", kSacct},
      {"TRES Name", "a summary by sreport", kSacct},
      {"PARTITION AVAIL", "the table of sinfo, which has no accelerators", kSinfo},
      {"NODELIST   NODES PARTITION", "the table of sinfo in columns", kSinfo},
      {"FROM_HOST   EXEC_HOST", "the table of bjobs, which has no start and end", kLsf},
      {"FROM_HOST  EXEC_HOST", "the table of bjobs, which has no start and end", kLsf},
      {"Summary of time in seconds spent in various states", "the summary of bhist", kLsf},
      {"Accounting information about jobs that are", "the summary of bacct", kLsf},
      {"job-ID     prior   name", "the table of qstat, which has no end of jobs", kQacct},
      {"job-ID  prior   name", "the table of qstat, which has no end of jobs", kQacct},
      {"Total System Usage", "a sum by qacct", kQacct},
      {"AVAIL_FEATURES", "a table of sinfo without accelerators", kSinfo},
      {"HOSTNAME                ARCH", "the table of qhost, which has no accelerators", kHosts},
      {"HOST_NAME          STATUS", "the table of bhosts, which has no accelerators", kHosts},
      {"resources_available.ncpus", "output of pbsnodes", kHosts},
      {"ROCm System Management Interface", "the table that rocm-smi prints for people", kRocm},
      {"READY   STATUS", "the table of kubectl, which has no GPUs and no times", kPods},
      {"GPU-Util  Compute M.", "the table that nvidia-smi prints for people", kLog},
      {"\"traceEvents\"", "a trace of one job", kTrace},
      {"\"deviceProperties\"", "a trace of one job", kTrace},
  });
  const std::string_view head = bytes.substr(0, 1024);
  if (is_gpustat(head)) {
    return fmt::format("is the table that gpustat prints for people; {}, or gpustat --json", kLog);
  }
  const auto found = std::ranges::find_if(
      kSigns, [&](const Sign& sign) { return head.find(sign.has) != head.npos; });
  return found == kSigns.end() ? std::string() : fmt::format("is {}; {}", found->is, found->next);
}

}  // namespace amdahl::fleet
