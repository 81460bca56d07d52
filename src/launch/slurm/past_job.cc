#include "launch/slurm/past_job.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "launch/slurm/ask.h"
#include "launch/slurm/rows.h"

namespace amdahl::launch::slurm {
namespace {

Result<std::string> script_of(const std::string& id) {
  // Accounting has it if the site stores scripts, the controller while it remembers the job.
  if (const auto stored = ask({"sacct", "-B", "-j", id})) {
    const std::size_t begin = stored->find("#!");
    if (begin != stored->npos) return stored->substr(begin);
  }
  const auto kept = ask({"scontrol", "write", "batch_script", id, "-"});
  if (kept && kept->starts_with("#!")) return *kept;
  return bad_input(
      fmt::format("Slurm no longer has the batch script of job {} ({}); run its command once by "
                  "hand: amdahl run -- CMD",
                  id, kept ? "it is empty" : clip(kept.error().text, 120)));
}

// Of "cpu=8,mem=31.25G" the megabytes; 0 if it does not say.
double memory_in(std::string_view tres) {
  constexpr std::string_view kKey = "mem=";
  for (const std::string_view item : split(tres, ',')) {
    if (!item.starts_with(kKey)) continue;
    const std::size_t unit = item.find_first_of("KMGTP");
    if (unit == item.npos) return 0;
    const double number =
        to_number<double>(item.substr(kKey.size(), unit - kKey.size())).value_or(0);
    constexpr std::string_view kUnits = "KMGTP";
    return number * std::pow(1024.0, static_cast<double>(kUnits.find(item[unit])) - 1);
  }
  return 0;
}

}  // namespace

const std::string kPastFormat =
    "JobIDRaw,JobName,User,State,WorkDir,Start,End,NNodes,AllocCPUS,AllocTRES,Partition";

Result<PastJob> parse_past_job(std::string_view text, const std::string& id) {
  const std::vector<std::string_view> lines = split(trim(text), '\n');
  const std::vector<std::string_view> fields = split(lines.back(), kSeparator);
  if (fields.size() < 11) {
    return Error{Error::Kind::kNotFound, fmt::format("Slurm's accounting has no job {}", id)};
  }
  const auto time = [](std::string_view seconds) {
    return std::chrono::seconds(to_number<std::int64_t>(seconds).value_or(0));
  };
  PastJob job;
  job.id = fields[0];
  job.name = fields[1];
  job.user = fields[2];
  job.state = fields[3].substr(0, fields[3].find(' '));  // "CANCELLED by 0".
  job.workdir = fields[4];
  job.start = time(fields[5]);
  job.end = time(fields[6]);
  job.nodes = to_number<int>(fields[7]).value_or(1);
  job.cpus = to_number<int>(fields[8]).value_or(1);
  job.gpus = count_in(std::string(fields[9]), "gres/gpu");
  job.memory_mb = memory_in(fields[9]);
  job.partition = fields[10];
  if (job.end <= job.start || job.start == Nanos{}) {
    return bad_input(fmt::format("job {} has not run to an end (state {})", id, job.state));
  }
  return job;
}

int tasks_per_node_in(std::string_view script, int nodes) {
  int per_node = 0;
  int all = 0;
  for (std::string_view line : split(script, '\n')) {
    constexpr std::string_view kMark = "#SBATCH";
    if (!line.starts_with(kMark)) continue;
    std::string words(line.substr(kMark.size()));
    std::ranges::replace(words, '=', ' ');
    std::ranges::replace(words, '\t', ' ');
    const auto said = split(words, ' ');
    std::string_view option;
    for (const std::string_view word : said) {
      if (word.empty()) continue;
      const bool joined = word.starts_with("-n") && word.size() > 2;  // -n8
      const int number = to_number<int>(joined ? word.substr(2) : word).value_or(0);
      if (option == "--ntasks-per-node") per_node = number;
      if (option == "--ntasks" || option == "-n" || joined) all = number;
      option = word;
    }
  }
  if (per_node > 0) return per_node;
  return std::max(1, (all + nodes - 1) / nodes);
}

Result<PastJob> past_job(const std::string& id) {
  const bool is_id = !id.empty() && std::ranges::all_of(id, [](char c) {
    return is_digit(c) || c == '_' || c == '+';
  });
  if (!is_id) return bad_input(fmt::format("'{}' is not a Slurm job id", clip(id, 40)));
  const std::string text =
      TRY(ask({"sacct", "-X", "-n", "-P", fmt::format("--delimiter={}", kSeparator), "-j", id, "-o",
               kPastFormat}));
  PastJob job = TRY(parse_past_job(text, id));
  const auto partition = ask({"scontrol", "-o", "show", "partition=" + job.partition});
  job.in_default = partition && partition->find("Default=YES") != partition->npos;
  job.script = TRY(script_of(id));
  job.tasks_per_node = tasks_per_node_in(job.script, job.nodes);
  return job;
}

}  // namespace amdahl::launch::slurm
