#include "model/bpf_lines.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"

namespace amdahl::model {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kMostFrames = 256;
// 104 days of nanoseconds, and more of anything that is counted: sums of them do not overflow.
constexpr std::int64_t kMost = std::int64_t{1} << 53;
constexpr std::int64_t kMostUnixTime = INT64_MAX / 4;

// Histograms end with their last count.
Json to_json(const Log2Histogram& histogram) {
  std::size_t used = histogram.size();
  while (used > 0 && histogram[used - 1] == 0) --used;
  return Json(std::vector<std::int64_t>(histogram.begin(),
                                        histogram.begin() + static_cast<std::ptrdiff_t>(used)));
}

// "futex": [nanoseconds, times], of those that there were.
Json blocked_json(const TaskWaits& task) {
  Json blocked = Json::object();
  for (std::size_t i = 0; i < kWaits; ++i) {
    if (task.blocks[i] == 0 && task.blocked[i] == Nanos{}) continue;
    blocked[std::string(kWaitNames[i])] = {task.blocked[i].count(), task.blocks[i]};
  }
  return blocked;
}

Json to_json(const TaskWaits& task) {
  return {{"tid", task.tid},
          {"process", task.process},
          {"parent", task.parent},
          {"name", task.name},
          {"executed", task.executed},
          {"executed_at", task.executed_at.count()},
          {"born", task.born.count()},
          {"died", task.died.count()},
          {"running", task.running.count()},
          {"runqueue", task.runqueue.count()},
          {"preempted", task.preempted.count()},
          {"blocked", blocked_json(task)},
          {"wakeups", task.wakeups},
          {"preemptions", task.preemptions},
          {"yields", task.yields},
          {"syscalls", task.syscalls},
          {"minor_faults", task.minor_faults},
          {"major_faults", task.major_faults},
          {"runqueue_waits", task.runqueue_waits},
          {"longest_runqueue", task.longest_runqueue.count()},
          {"runqueue_histogram", to_json(task.runqueue_histogram)}};
}

// The source place is written only if known.
Json to_json(const std::vector<WaitFrame>& frames) {
  Json made = Json::array();
  for (const WaitFrame& frame : frames) {
    made.push_back({frame.file, frame.offset, frame.symbol});
    if (frame.line == 0) continue;
    made.back().push_back(frame.source);
    made.back().push_back(frame.line);
  }
  return made;
}

Json to_json(const std::vector<PythonFrame>& frames) {
  Json made = Json::array();
  for (const PythonFrame& frame : frames) made.push_back({frame.file, frame.line, frame.function});
  return made;
}

Json to_json(const WaitSite& site) {
  Json made{{"id", site.id},
            {"tid", site.tid},
            {"reason", name(site.reason)},
            {"syscall", site.syscall},
            {"count", site.count},
            {"time", site.time.count()},
            {"longest", site.longest.count()},
            {"frames", to_json(site.frames)}};
  if (!site.python.empty()) made["python"] = to_json(site.python);
  return made;
}

Json to_json(const RunSite& site) {
  Json made{{"tid", site.tid}, {"samples", site.samples}};
  if (!site.frames.empty()) made["frames"] = to_json(site.frames);
  if (!site.python.empty()) made["python"] = to_json(site.python);
  return made;
}

Json to_json(const DeviceIo& device) {
  return {{"name", device.name},
          {"reads", device.reads},
          {"writes", device.writes},
          {"read_bytes", device.read_bytes},
          {"write_bytes", device.write_bytes},
          {"read_time", device.read_time.count()},
          {"write_time", device.write_time.count()},
          {"own", device.own},
          {"own_time", device.own_time.count()},
          {"longest", device.longest.count()},
          {"histogram", to_json(device.histogram)}};
}

// Reads the members of one object. The first that is wrong is kept, and all after it are 0.
class Members {
 public:
  Members(const Json& object, std::string_view place) : object_{object}, place_{place} {
    if (!object.is_object()) fail("", "an object");
  }

  std::int64_t whole(const char* name, std::int64_t fallback = 0, std::int64_t most = kMost) {
    const Json* found = find(name);
    if (!found) return fallback;
    if (!found->is_number_integer()) return fail(name, "a whole number"), 0;
    if (found->is_number_unsigned() &&
        found->get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
      return fail(name, fmt::format("at most {}", most)), 0;
    }
    const auto value = found->get<std::int64_t>();
    if (value < std::min<std::int64_t>(0, fallback)) return fail(name, "not negative"), 0;
    return value;
  }
  Nanos time(const char* name) { return Nanos{whole(name)}; }
  std::string text(const char* name) {
    const Json* found = find(name);
    if (!found) return "";
    if (!found->is_string()) return fail(name, "a string"), "";
    return found->get<std::string>();
  }
  bool truth(const char* name) {
    const Json* found = find(name);
    if (!found) return false;
    if (!found->is_boolean()) return fail(name, "true or false"), false;
    return found->get<bool>();
  }
  const Json& list(const char* name) {
    static const Json kEmpty = Json::array();
    const Json* found = find(name);
    if (!found) return kEmpty;
    if (!found->is_array()) return fail(name, "a list"), kEmpty;
    return *found;
  }
  Log2Histogram histogram(const char* name) {
    Log2Histogram filled{};
    const Json& counts = list(name);
    if (counts.size() > filled.size()) return fail(name, "32 counts or fewer"), filled;
    for (std::size_t i = 0; i < counts.size(); ++i) filled[i] = number(counts[i], name);
    return filled;
  }
  // A non-negative integer.
  std::int64_t number(const Json& value, const char* name) {
    if (!value.is_number_unsigned() ||
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(kMost)) {
      return fail(name, "whole numbers that are not negative"), 0;
    }
    return value.get<std::int64_t>();
  }
  const Json* find(const char* name) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  void fail(const char* name, std::string_view want) {
    if (problem_.empty()) {
      problem_ = fmt::format("{}{}{}: must be {}", place_, *name ? "/" : "", name, want);
    }
  }
  Result<> done() const {
    if (problem_.empty()) return Ok{};
    return bad_input(problem_);
  }

 private:
  const Json& object_;
  std::string place_;
  std::string problem_;
};

std::optional<std::size_t> wait_named(std::string_view text) {
  const auto found = std::ranges::find(kWaitNames, text);
  if (found == kWaitNames.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kWaitNames.begin());
}

// A reason that a later version has is counted as another.
void read_blocked(const Json& blocked, Members& members, TaskWaits& task) {
  if (!blocked.is_object()) return members.fail("blocked", "an object");
  for (const auto& [reason, value] : blocked.items()) {
    if (!value.is_array() || value.size() != 2) {
      return members.fail("blocked", "a time and a count for each reason");
    }
    const std::size_t at = wait_named(reason).value_or(static_cast<std::size_t>(Wait::kOther));
    task.blocked[at] += Nanos{members.number(value[0], "blocked")};
    task.blocks[at] += members.number(value[1], "blocked");
  }
}

Result<TaskWaits> read_task(const Json& value) {
  Members in(value, "task");
  TaskWaits task;
  task.tid = in.whole("tid");
  task.process = in.whole("process");
  task.parent = in.whole("parent");
  task.name = in.text("name");
  task.executed = in.truth("executed");
  task.executed_at = in.time("executed_at");
  task.born = in.time("born");
  task.died = in.time("died");
  task.running = in.time("running");
  task.runqueue = in.time("runqueue");
  task.preempted = in.time("preempted");
  if (const Json* blocked = in.find("blocked")) read_blocked(*blocked, in, task);
  task.wakeups = in.whole("wakeups");
  task.preemptions = in.whole("preemptions");
  task.yields = in.whole("yields");
  task.syscalls = in.whole("syscalls", -1);
  task.minor_faults = in.whole("minor_faults");
  task.major_faults = in.whole("major_faults");
  task.runqueue_waits = in.whole("runqueue_waits");
  task.longest_runqueue = in.time("longest_runqueue");
  task.runqueue_histogram = in.histogram("runqueue_histogram");
  TRY(in.done());
  return task;
}

int line_of(const Json& value, Members& in, const char* list) {
  return static_cast<int>(std::min<std::int64_t>(in.number(value, list), INT32_MAX));
}

std::vector<WaitFrame> read_frames(Members& in) {
  std::vector<WaitFrame> frames;
  for (const Json& frame : in.list("frames")) {
    if (frames.size() >= kMostFrames) break;
    const bool is_row = frame.is_array() && (frame.size() == 3 || frame.size() == 5) &&
                        frame[0].is_string() && frame[1].is_number_unsigned() &&
                        frame[2].is_string() && (frame.size() == 3 || frame[3].is_string());
    if (!is_row) {
      in.fail("frames", "a list of file, offset and symbol, or these with source and line");
      break;
    }
    frames.push_back({frame[0].get<std::string>(), frame[1].get<std::uint64_t>(),
                      frame[2].get<std::string>(), "", 0});
    if (frame.size() == 3) continue;
    frames.back().source = frame[3].get<std::string>();
    frames.back().line = line_of(frame[4], in, "frames");
  }
  return frames;
}

std::vector<PythonFrame> read_python(Members& in) {
  std::vector<PythonFrame> frames;
  for (const Json& frame : in.list("python")) {
    if (frames.size() >= kMostFrames) break;
    if (!frame.is_array() || frame.size() != 3 || !frame[0].is_string() || !frame[2].is_string()) {
      in.fail("python", "a list of file, line and function");
      break;
    }
    frames.push_back({frame[0].get<std::string>(), line_of(frame[1], in, "python"),
                      frame[2].get<std::string>()});
  }
  return frames;
}

Result<WaitSite> read_site(const Json& value) {
  Members in(value, "site");
  WaitSite site;
  site.id = in.whole("id");
  site.tid = in.whole("tid");
  const auto reason = wait_named(in.text("reason"));
  site.reason = static_cast<Wait>(reason.value_or(static_cast<std::size_t>(Wait::kOther)));
  site.syscall = static_cast<int>(std::min<std::int64_t>(in.whole("syscall", -1), 1 << 20));
  site.count = in.whole("count");
  site.time = in.time("time");
  site.longest = in.time("longest");
  site.frames = read_frames(in);
  site.python = read_python(in);
  TRY(in.done());
  return site;
}

Result<RunSite> read_running(const Json& value) {
  Members in(value, "running");
  RunSite site;
  site.tid = in.whole("tid");
  site.samples = in.whole("samples");
  site.frames = read_frames(in);
  site.python = read_python(in);
  TRY(in.done());
  return site;
}

Result<DeviceIo> read_device(const Json& value) {
  Members in(value, "device");
  DeviceIo device;
  device.name = in.text("name");
  device.reads = in.whole("reads");
  device.writes = in.whole("writes");
  device.read_bytes = in.whole("read_bytes");
  device.write_bytes = in.whole("write_bytes");
  device.read_time = in.time("read_time");
  device.write_time = in.time("write_time");
  device.own = in.whole("own");
  device.own_time = in.time("own_time");
  device.longest = in.time("longest");
  device.histogram = in.histogram("histogram");
  TRY(in.done());
  return device;
}

Result<> read_wakes(Members& in, BpfSummary& summary) {
  for (const Json& row : in.list("wakes")) {
    if (!row.is_array() || row.size() != 4) {
      in.fail("wakes", "a list of waker, wakee, count and time");
      break;
    }
    summary.wakes.push_back({in.number(row[0], "wakes"), in.number(row[1], "wakes"),
                             in.number(row[2], "wakes"), Nanos{in.number(row[3], "wakes")}});
  }
  return in.done();
}

Result<> read_head(Members& in, BpfSummary& summary) {
  if (in.text("amdahl") != "waits") in.fail("amdahl", "\"waits\"");
  const std::int64_t version = in.whole("version");
  TRY(in.done());
  if (version != kVersion) {
    return Error{Error::Kind::kUnsupported,
                 fmt::format("version {} is not supported; this program reads version {}", version,
                             kVersion)};
  }
  summary.collector = in.text("collector");
  summary.why_not = in.text("why_not");
  summary.host = in.text("host");
  summary.started = Nanos{in.whole("started_unix", 0, kMostUnixTime)};
  summary.monotonic = in.time("started_monotonic");
  summary.sample_every = in.time("sample_every");
  return in.done();
}

Result<> read_end(const Json& value, BpfSummary& summary) {
  Members in(value, "end");
  summary.wall = in.time("wall");
  summary.collector_cpu = in.time("collector_cpu");
  summary.lost_tasks = in.whole("lost_tasks");
  summary.lost_sites = in.whole("lost_sites");
  summary.lost_events = in.whole("lost_events");
  summary.lost_wakes = in.whole("lost_wakes");
  summary.lost_samples = in.whole("lost_samples");
  summary.run_sample_every = in.time("run_sample_every");
  summary.mended_switches = in.whole("mended_switches");
  return in.done();
}

// [tid,waker,reason,site,off,until woken,until on], the reason -1 if it was preempted.
Result<BpfLine> read_wait(std::string_view line, SingleWait& wait) {
  const auto wrong = [&] { return bad_input(fmt::format("not a wait: {}", clip(line, 60))); };
  std::array<std::int64_t, 7> numbers{};
  const char* at = line.data() + 1;
  const char* const end = line.data() + line.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [after, error] = std::from_chars(at, end, numbers[i]);
    const char closes = i + 1 < numbers.size() ? ',' : ']';
    if (error != std::errc{} || after == end || *after != closes) return wrong();
    if (numbers[i] < (i == 2 ? -1 : 0) || numbers[i] > kMost) return wrong();
    at = after + 1;
  }
  if (at != end) return wrong();
  wait.tid = numbers[0];
  wait.waker = numbers[1];
  wait.reason.reset();
  if (numbers[2] >= 0) {
    wait.reason = static_cast<Wait>(std::min<std::int64_t>(numbers[2], kWaits - 1));
  }
  wait.site = numbers[3];
  wait.off = Nanos{numbers[4]};
  wait.woken = wait.off + Nanos{numbers[5]};
  wait.on = wait.woken + Nanos{numbers[6]};
  return BpfLine::kWait;
}

}  // namespace

std::string bpf_head_line(const BpfSummary& summary) {
  std::string line(kBpfHead);
  Json rest{{"collector", summary.collector},
            {"host", summary.host},
            {"started_unix", summary.started.count()},
            {"started_monotonic", summary.monotonic.count()},
            {"reasons", kWaitNames}};
  if (!summary.why_not.empty()) rest["why_not"] = summary.why_not;
  if (summary.sample_every > Nanos{}) rest["sample_every"] = summary.sample_every.count();
  return line + dump_json(rest).substr(1) + "\n";
}

void append_wait(std::string& out, const SingleWait& wait) {
  fmt::format_to(std::back_inserter(out), "[{},{},{},{},{},{},{}]\n", wait.tid, wait.waker,
                 wait.reason ? static_cast<int>(*wait.reason) : -1, wait.site, wait.off.count(),
                 (wait.woken - wait.off).count(), (wait.on - wait.woken).count());
}

void append_least(std::string& out, Nanos at, Nanos least) {
  fmt::format_to(std::back_inserter(out),
                 R"({{"at":{},"least":{}}})"
                 "\n",
                 at.count(), least.count());
}

std::string bpf_summary_lines(const BpfSummary& summary) {
  std::string out;
  const auto line = [&](const Json& value) { out += dump_json(value) + "\n"; };
  for (const TaskWaits& task : summary.tasks) line({{"task", to_json(task)}});
  for (const WaitSite& site : summary.sites) line({{"site", to_json(site)}});
  for (const RunSite& site : summary.running) line({{"running", to_json(site)}});
  Json wakes = Json::array();
  for (const Wakes& row : summary.wakes) {
    wakes.push_back({row.waker, row.wakee, row.count, row.blocked.count()});
  }
  line({{"wakes", wakes}});
  for (const DeviceIo& device : summary.devices) line({{"device", to_json(device)}});
  line({{"end",
         {{"wall", summary.wall.count()},
          {"collector_cpu", summary.collector_cpu.count()},
          {"lost_tasks", summary.lost_tasks},
          {"lost_sites", summary.lost_sites},
          {"lost_events", summary.lost_events},
          {"lost_wakes", summary.lost_wakes},
          {"lost_samples", summary.lost_samples},
          {"run_sample_every", summary.run_sample_every.count()},
          {"mended_switches", summary.mended_switches}}}});
  return out;
}

Result<BpfLine> read_bpf_line(std::string_view line, BpfSummary& summary, SingleWait& wait) {
  line = trim(line);
  if (line.starts_with('[')) return read_wait(line, wait);
  const Json value = TRY(parse_json(line));
  Members in(value, "line");
  TRY(in.done());
  if (in.find("amdahl")) {
    TRY(read_head(in, summary));
    return BpfLine::kHead;
  }
  if (const Json* task = in.find("task")) summary.tasks.push_back(TRY(read_task(*task)));
  if (const Json* site = in.find("site")) summary.sites.push_back(TRY(read_site(*site)));
  if (const Json* running = in.find("running")) {
    summary.running.push_back(TRY(read_running(*running)));
  }
  if (const Json* device = in.find("device")) summary.devices.push_back(TRY(read_device(*device)));
  TRY(read_wakes(in, summary));
  const Json* end = in.find("end");
  if (end) TRY(read_end(*end, summary));
  return end ? BpfLine::kEnd : BpfLine::kPart;
}

}  // namespace amdahl::model
