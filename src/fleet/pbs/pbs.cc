#include "fleet/pbs/pbs.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/line_reader.h"

namespace amdahl::fleet::pbs {
namespace {

using model::JobState;
using model::Trouble;

// "MM/DD/YYYY HH:MM:SS;TYPE;ID;MESSAGE"
struct Record {
  std::string_view at;
  char type = '\0';
  std::string_view id;
  std::string_view message;
};

std::optional<Record> record_of(std::string_view line) {
  constexpr std::string_view kShape = "00/00/0000 00:00:00;A;";
  if (line.size() < kShape.size()) return std::nullopt;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool fits = kShape[i] == '0'   ? is_digit(line[i])
                      : kShape[i] == 'A' ? (line[i] | 32) >= 'a' && (line[i] | 32) <= 'z'
                                         : line[i] == kShape[i];
    if (!fits) return std::nullopt;
  }
  const std::string_view rest = line.substr(kShape.size());
  const std::size_t end = rest.find(';');
  return Record{line.substr(0, 19), line[kShape.size() - 2], rest.substr(0, end),
                end == rest.npos ? std::string_view() : rest.substr(end + 1)};
}

// Sites name the resource themselves: PBS asks them to define ngpus, Torque has gpus, and others
// counted before either did.
bool is_accelerators(std::string_view resource) {
  for (const std::string_view name : {"ngpus", "gpus", "gpu", "ngpu", "naccelerators"}) {
    if (lower(resource) == name) return true;
  }
  return false;
}

// The values of "key=value key="a b" ...", by key. What has no '=' belongs to the value before it,
// which is none that we use.
class Values {
 public:
  explicit Values(std::string_view text) {
    while (!text.empty()) {
      const std::size_t equals = text.find_first_of("= ");
      if (equals == text.npos) return;
      if (text[equals] == ' ') {
        text.remove_prefix(equals + 1);
        continue;
      }
      const std::string_view key = text.substr(0, equals);
      text.remove_prefix(equals + 1);
      const char quote = text.starts_with('"') || text.starts_with('\'') ? text[0] : ' ';
      if (quote != ' ') text.remove_prefix(1);
      const std::size_t end = std::min(text.find(quote), text.size());
      list_.emplace_back(key, text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  std::string_view operator[](std::string_view key) const {
    const auto found = std::ranges::find(list_, key, &Pair::first);
    return found == list_.end() ? std::string_view() : found->second;
  }

  // In all, where the request names them as such: "Resource_List.gpu=4".
  double asked_accelerators() const {
    constexpr std::string_view kAsked = "Resource_List.";
    for (const auto& [key, value] : list_) {
      if (!key.starts_with(kAsked) || !is_accelerators(key.substr(kAsked.size()))) continue;
      if (const double count = to_number<double>(value).value_or(0); count > 0) return count;
    }
    return 0;
  }

 private:
  using Pair = std::pair<std::string_view, std::string_view>;
  std::vector<Pair> list_;
};

// The accelerators in one chunk, "(n1:ncpus=8:ngpus=2:mem=1gb)"; 0 if it names none.
double count_in(std::string_view chunk) {
  for (const std::string_view part : split(chunk, ':')) {
    const std::size_t equals = part.find('=');
    if (equals == part.npos || !is_accelerators(part.substr(0, equals))) continue;
    return to_number<double>(part.substr(equals + 1, part.find(')') - equals - 1)).value_or(0);
  }
  return 0;
}

// What exec_vnode says was given: "(n1:ncpus=8:ngpus=2)+(n2:ncpus=8:ngpus=2)".
double given_chunks(std::string_view vnodes) {
  double sum = 0;
  for (const std::string_view chunk : split(vnodes, '+')) sum += count_in(chunk);
  return sum;
}

// What was asked for: "2:ppn=16:gpus=2+1:ppn=4" of nodes, "1:ncpus=8:gpu=4" of select.
double asked_chunks(std::string_view chunks) {
  double sum = 0;
  for (const std::string_view chunk : split(chunks, '+')) {
    const double times = to_number<double>(chunk.substr(0, chunk.find(':'))).value_or(1);
    sum += times * count_in(chunk);
  }
  return sum;
}

// "n1/0*8+n2/1*8", "n1/0+n1/1": each host once.
std::string hosts_of(std::string_view exec_host) {
  std::vector<std::string> hosts;
  for (const std::string_view place : split(exec_host, '+')) {
    const std::string host(place.substr(0, place.find('/')));
    if (!host.empty() && std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
  }
  return join(hosts, ",");
}

// Signals are told as 256 (Torque: 128) and their number; what PBS did itself is negative.
JobState state_of(std::string_view exit_status) {
  const auto status = to_number<int>(exit_status);
  if (!status) return JobState::kOther;
  switch (*status) {
    case 0:
      return JobState::kCompleted;
    case -29:
      return JobState::kTimeout;
    case -27:
      return JobState::kOutOfMemory;
    case 256 + 15:  // qdel
      return JobState::kCancelled;
    default:
      return JobState::kFailed;
  }
}

class PbsReader final : public LineReader {
 public:
  PbsReader(Intake& intake, const ReaderOptions& options)
      : LineReader(intake, options), stamp_{time_format("%m/%d/%Y %H:%M:%S")} {}

 private:
  void end() override {
    for (const auto& [id, begun] : running_) tell('S', id, begun.message, begun.where);
    running_.clear();
  }

  struct Begun {
    std::string message;
    Where where;
  };

  Result<> take(std::string_view line, Where where) override {
    if (trim(line).empty()) return Ok{};
    const auto record = record_of(line);
    if (!record) {
      intake_.trouble(Trouble::kBadLine, where, "is not a PBS record: date time;type;job;values");
      return Ok{};
    }
    const std::string id(record->id);
    if (record->type == 'S' || record->type == 'T') {
      running_.insert_or_assign(id, Begun{std::string(record->message), where});
    }
    if (record->type == 'E' || record->type == 'R') ended(*record, id, where);
    return Ok{};
  }

  void ended(const Record& record, const std::string& id, Where where) {
    const auto begun = running_.extract(id);
    const Values values(record.message);
    const bool has_span = !values["end"].empty() && !values["resources_used.walltime"].empty();
    if (!values["start"].empty() || has_span) return tell(record.type, id, record.message, where);
    // Torque says no more of a job that is run again than when.
    const Instant at = stamp_->read(record.at, *zone_);
    if (begun.empty() || !at.known()) {
      return intake_.trouble(Trouble::kBadLine, where, fmt::format("{} has no start", id));
    }
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at.at);
    tell(record.type, id, fmt::format("{} end={}", begun.mapped().message, seconds.count()), where);
  }

  static Nanos time(const Values& values, std::string_view key) {
    const auto seconds = to_number<std::int64_t>(values[key]);
    const bool is_time = seconds && *seconds > 0 && *seconds < 9'000'000'000;
    return is_time ? Nanos{std::chrono::seconds{*seconds}} : Nanos{};
  }

  void tell(char type, std::string_view id, std::string_view message, Where where) {
    const Values values(message);
    const std::string hosts = hosts_of(values["exec_host"]);
    model::JobDraft job;
    job.id = id.substr(0, id.find('.'));
    if (job.id.empty()) return intake_.trouble(Trouble::kBadLine, where, "has no job");
    if (job.id != id) job.raw = id;
    job.name = values["jobname"];
    job.user = values["user"];
    job.account = values["account"].empty() ? values["group"] : values["account"];
    job.partition = values["queue"];
    job.hosts = hosts;
    job.host_count = hosts.empty() ? 0 : static_cast<int>(std::ranges::count(hosts, ',')) + 1;
    job.submit = time(values, values["qtime"].empty() ? "ctime" : "qtime");
    job.start = time(values, "start");
    job.end = type == 'S' ? Nanos{} : time(values, "end");
    if (job.start == Nanos{}) read_duration(values["resources_used.walltime"], job.elapsed);
    const bool has_begun = job.start != Nanos{} || (job.end != Nanos{} && job.elapsed > Nanos{});
    if (!has_begun || (type != 'S' && job.end < job.start)) {
      return intake_.trouble(Trouble::kBadTime, where,
                             fmt::format("start '{}' and end '{}' are not a valid run time",
                                         clip(values["start"], 20), clip(values["end"], 20)));
    }
    job.state = type == 'S'   ? JobState::kRunning
                : type == 'R' ? JobState::kPreempted
                              : state_of(values["Exit_status"]);
    job.accelerators = accelerators(values);
    for (const std::string_view key :
         {"Resource_List.gpu_type", "Resource_List.gpu_model", "Resource_List.accelerator_model"}) {
      if (job.kind.empty()) job.kind = values[key];
    }
    intake_.job(job, where);
    places(job, values["exec_gpus"]);
  }

  static double accelerators(const Values& values) {
    double count = given_chunks(values["exec_vnode"]);
    if (count == 0) count = values.asked_accelerators();
    for (const std::string_view key :
         {"Resource_List.select", "Resource_List.nodes", "Resource_List.neednodes"}) {
      if (count == 0) count = asked_chunks(values[key]);
    }
    return count > 0 && count <= 1e6 ? count : 0;
  }

  // Of Torque: "n1-gpu/0+n1-gpu/1".
  void places(const model::JobDraft& job, std::string_view gpus) {
    for (const std::string_view gpu : split(gpus, '+')) {
      const std::size_t slash = gpu.rfind("-gpu/");
      if (slash == gpu.npos || slash == 0 || slash + 5 == gpu.size()) continue;
      intake_.tell(Assignment{job.raw.empty() ? job.id : job.raw, gpu.substr(0, slash),
                              gpu.substr(slash + 5)});
    }
  }

  Result<TimeFormat> stamp_;
  std::map<std::string, Begun> running_;
};

}  // namespace

bool claims(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  return record_of(head.substr(0, head.find('\n'))).has_value();
}

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options) {
  return std::make_unique<PbsReader>(intake, options);
}

Explained explain(std::string_view, const ReaderOptions&) {
  return {Gives::kJobs,
          "accounting of PBS: jobs that ended (E), were run again (R), or began and still run (S); "
          "accelerators are those of exec_vnode, else as asked for"};
}

}  // namespace amdahl::fleet::pbs
