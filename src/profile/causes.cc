#include "profile/causes.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/cause_kinds.h"
#include "profile/ceiling.h"
#include "profile/offcpu.h"
#include "profile/phases.h"

namespace amdahl::profile {
namespace {

using model::Bottleneck;
using model::Cause;
using Evidence = std::map<std::string, double>;

// A thread that is preempted waits about one time slice of the scheduler.
constexpr double kTimeSliceSeconds = 0.003;
// A pipe ping-pong takes 4 µs a wake-up on a quiet guest; cold caches are taken to double it.
constexpr double kWakeupSeconds = 8e-6;
constexpr double kManyPreemptions = 50;  // A second and CPU; a quiet job has none.
constexpr double kManyThreadsPerCpu = 1.5;
constexpr double kForeignCores = 0.25;
constexpr double kSpareAccelerator = 0.2;  // Room left over the mean when one is given back.
constexpr double kBusyHostCore = 0.7;      // Of one core, while the accelerators wait.
constexpr double kMostly = 0.5;            // Of a cause: what names it.

std::optional<double> find(const Evidence& evidence, const std::string& name) {
  const auto found = evidence.find(name);
  if (found == evidence.end() || !std::isfinite(found->second)) return std::nullopt;
  return found->second;
}

double get(const Evidence& evidence, const std::string& name) {
  return find(evidence, name).value_or(0);
}

Cause cause(const CauseInputs& inputs, const CauseKind& kind, Bottleneck bottleneck, double share,
            std::string because) {
  Cause result;
  set_kind(result, kind);
  result.bottleneck = bottleneck;
  result.share = std::clamp(share, 0.0, 1.0);
  result.accelerator_seconds = result.share * inputs.allocated;
  // What others take is itself a cause; accelerators that could go are no part of the time.
  const bool is_of_time =
      bottleneck != Bottleneck::kContention && bottleneck != Bottleneck::kAllocation;
  const double taken = is_of_time ? taken_by_others(inputs.all) : 0;
  result.ceiling = ceiling_without(taken, result.share);
  result.because =
      fmt::format("{}: {} of {} accelerator-seconds", because,
                  show_number(result.accelerator_seconds), show_number(inputs.allocated));
  return result;
}

struct Part {
  const Kind* kind = nullptr;
  double share = 0;
  double needed = 0;  // By any run, and not in the share.
};

std::vector<Part> parts_of(Bottleneck bottleneck, const Evidence& evidence) {
  std::vector<Part> parts;
  for (const Kind& kind : kinds()) {
    if (kind.bottleneck != bottleneck) continue;
    const auto share = find(evidence, std::string(kind.share));
    if (share && *share > 0) parts.push_back({&kind, *share, 0});
  }
  std::ranges::stable_sort(parts, std::ranges::greater{}, &Part::share);
  return parts;
}

// The hook's imports happen during its start-up: counted with it, not beside it. Returns them if
// they are most of it.
std::optional<Part> drop_nested_imports(std::vector<Part>& parts) {
  const auto find = [&](std::string_view share) {
    return std::ranges::find_if(parts, [&](const Part& part) { return part.kind->share == share; });
  };
  const auto start = find("startup_share");
  const auto imports = find("import_share");
  if (start == parts.end() || imports == parts.end()) return std::nullopt;
  const Part dropped = *imports;
  const bool is_most = dropped.share > start->share / 2;
  parts.erase(imports);
  return is_most ? std::optional(dropped) : std::nullopt;
}

// What a run cannot do without is no cause. The hook's imports are a part of its start-up, those of
// phases stand beside it.
void leave_out_needed(const Evidence& evidence, bool is_nested, std::vector<Part>& parts) {
  double needed = get(evidence, kNeededImports);
  for (const std::string_view share : {"import_share", "startup_share"}) {
    const auto part = std::ranges::find_if(
        parts, [&](const Part& candidate) { return candidate.kind->share == share; });
    if (part == parts.end()) continue;
    part->needed = std::min(needed, part->share);
    part->share -= part->needed;
    if (!is_nested) needed -= part->needed;
  }
  std::erase_if(parts,
                [](const Part& part) { return part.needed > 0 && part.share < kSmallestCause; });
  std::ranges::stable_sort(parts, std::ranges::greater{}, &Part::share);
}

// Phases that the job reported speak for their class; of a class they do not know, the hook does.
std::optional<Cause> timed(const CauseInputs& inputs, Bottleneck bottleneck) {
  auto parts = parts_of(bottleneck, inputs.reported);
  const bool from_phases = !parts.empty();
  std::optional<Part> imports;
  if (!from_phases) {
    parts = parts_of(bottleneck, inputs.all);
  }
  if (bottleneck == Bottleneck::kLifecycle) leave_out_needed(inputs.all, !from_phases, parts);
  if (!from_phases) imports = drop_nested_imports(parts);
  double sum = 0;
  CauseKind first;
  std::vector<std::string> names;
  std::vector<std::string> numbers;
  double needed = 0;
  for (const Part& part : parts) {
    sum += part.share;
    needed += part.needed;
    const bool is_importing = imports && part.kind->share == "startup_share";
    const Kind& called = is_importing ? *imports->kind : *part.kind;
    if (names.empty()) first = called.cause;
    if (names.empty() || part.share >= kSmallestCause) names.emplace_back(called.cause.name);
    if (part.share < kSmallestCause / 10 && !numbers.empty()) continue;
    numbers.push_back(fmt::format("{} {}{}", part.kind->share, show_percent(part.share),
                                  part.needed > 0 ? " without needed imports" : ""));
    if (is_importing) {
      numbers.back() +=
          fmt::format(", most of it {} {}", called.share, show_percent(imports->share));
    }
  }
  if (sum < kSmallestCause) return std::nullopt;
  Cause found = cause(inputs, first, bottleneck, sum,
                      fmt::format("{} from {}", join(numbers, ", "),
                                  from_phases ? "the job's phases" : "the hook"));
  found.name = join(names, ", ");
  // Who starts less often does without what each start needs, too. What the hook calls serial is
  // that of the steps which it profiled.
  const bool is_of_window = bottleneck == Bottleneck::kSerial && !from_phases;
  const double most = sum + needed + (is_of_window ? kUnseen : 0);
  found.ceiling = ceiling_without(taken_by_others(inputs.all), std::min(1.0, most));
  return found;
}

// Accelerators that the job cannot use: as many as are left over both by the mean with some room,
// and those that were not busy together 95 % of the time (a job of one thread on two slots).
std::optional<Cause> allocation(const CauseInputs& inputs) {
  const double total = get(inputs.all, "accelerators");
  const auto busy = find(inputs.all, "busy_accelerators");
  if (total < 2 || !busy) return std::nullopt;
  const double most = find(inputs.all, "busy_accelerators_p95").value_or(total);
  const double by_mean = std::ceil(*busy + kSpareAccelerator);
  const double by_most = std::ceil(most - kSpareAccelerator / 2);
  const double keep = std::clamp(std::min(by_mean, by_most), 1.0, total);
  const double spare = total - keep;
  if (spare < 1) return std::nullopt;
  return cause(inputs, causes::kSpare, Bottleneck::kAllocation, spare / total,
               fmt::format("{} of {} busy on average, {} at the 95th percentile: {} not needed",
                           show_number(*busy), total, show_number(most), spare));
}

// Why runnable tasks did not run: upper bounds, as shares of the time.
struct Contention {
  double waiting = 0;  // Altogether, but for the quota and the hypervisor.
  double others = 0;
  double own = 0;
  double stolen = 0;
  double throttled = 0;
};

Contention contention_in(const Evidence& evidence, double cpus, double preemptions_per_cpu) {
  const double busy = get(evidence, "busy_cores");
  const double foreign = get(evidence, "foreign_cpu_cores");
  const double threads = get(evidence, "threads_per_cpu");
  const auto measured = find(evidence, "cpu_wait_share");
  Contention found;
  found.stolen = get(evidence, "steal_share");
  found.throttled = get(evidence, "throttled_share");
  // The tasks' own clocks; else that some task of the host waited; else a guess from preemptions.
  found.waiting =
      measured.value_or(find(evidence, "psi_cpu_some")
                            .value_or(std::min(1.0, preemptions_per_cpu * kTimeSliceSeconds)));
  // CPUs are shared out fairly, so at most the others' part of what was used could come back; and
  // not more than the time the job's own CPUs did not spend on it: work on other CPUs is no harm.
  const double not_on_it = std::max(0.0, 1 - busy / cpus);
  if (foreign >= kForeignCores) {
    found.others = std::min({found.waiting, foreign / (foreign + busy), not_on_it});
  }
  if (measured) {
    // What our tasks waited and not for others they waited for each other.
    if (threads > 1) found.own = std::min(found.waiting - found.others, 1 - 1 / threads);
  } else if (threads > kManyThreadsPerCpu && preemptions_per_cpu > kManyPreemptions) {
    found.own = found.waiting * (1 - 1 / threads);
  }
  return found;
}

// Waiting for a CPU and being throttled do not overlap. Together they take at most the time that
// tasks were runnable and did not run.
double both(const Contention& found, const Evidence& evidence) {
  const double sum = std::min(1.0, std::max(found.others, found.own) + found.throttled);
  const auto delay = find(evidence, "run_delay_s");
  const double ready = delay.value_or(0) + get(evidence, "busy_cores") * get(evidence, "wall_s");
  return delay && ready > 0 ? std::min(sum, *delay / ready) : sum;
}

std::string quota_sentence(const Contention& found, const Evidence& evidence) {
  const double wall = get(evidence, "wall_s");
  return fmt::format(
      "throttled by its own CPU quota for {} s of {} s (quota {} cores, {} s throttled summed over "
      "CPUs)",
      show_number(found.throttled * wall), show_number(wall),
      show_number(get(evidence, "quota_cores")), show_number(get(evidence, "throttled_s")));
}

std::optional<Cause> contention(const CauseInputs& inputs) {
  const Evidence& evidence = inputs.all;
  const double busy = get(evidence, "busy_cores");
  const double cpus = find(evidence, "cpus").value_or(std::max(busy, 1.0));
  const double preemptions = get(evidence, "involuntary_switches_per_s") / cpus;
  const Contention found = contention_in(evidence, cpus, preemptions);
  const double share = std::max(found.stolen, both(found, evidence));
  if (share < kSmallestCause) return std::nullopt;
  const double threads = get(evidence, "threads_per_cpu");
  const char* whose = find(evidence, "cpu_wait_share") ? "the job's tasks" : "tasks on the host";
  const std::string waited = fmt::format(
      "{} waited for a CPU {} of the time; other processes used {} cores, the job {}; {} threads "
      "per CPU, {} preemptions per second and CPU, steal {}",
      whose, show_percent(found.waiting), show_number(get(evidence, "foreign_cpu_cores")),
      show_number(busy), threads > 0 ? show_number(threads) : "unknown", show_number(preemptions),
      show_percent(found.stolen));
  const std::string held = quota_sentence(found, evidence);
  const double most = std::max({found.others, found.own, found.stolen});
  if (found.throttled >= most) {
    return cause(inputs, causes::kOwnQuota, Bottleneck::kContention, share,
                 most < kSmallestCause ? held : fmt::format("{}; {}", held, waited));
  }
  const CauseKind& kind = most == found.own      ? causes::kOwnThreads
                          : most == found.others ? causes::kOtherWork
                                                 : causes::kSteal;
  return cause(inputs, kind, Bottleneck::kContention, share,
               found.throttled < kSmallestCause ? waited : fmt::format("{}; {}", waited, held));
}

std::optional<Cause> wakeups(const CauseInputs& inputs) {
  const Evidence& evidence = inputs.all;
  const double rate = get(evidence, "voluntary_switches_per_s");
  const double busy = get(evidence, "busy_cores");
  const double used = busy / find(evidence, "cpus").value_or(std::max(busy, 1.0));
  if (rate <= kManyWakeups || used >= kBusyHostCore) return std::nullopt;
  const double share = std::min(1 - used, rate * kWakeupSeconds);
  if (share < kSmallestCause) return std::nullopt;
  return cause(
      inputs, causes::kWokenThreads, Bottleneck::kWakeups, share,
      fmt::format("{} voluntary switches per second at {} µs each, CPUs {} busy", show_number(rate),
                  show_number(kWakeupSeconds * 1e6), show_percent(used)));
}

// A collector's conclusion, used if no other evidence covers the class.
std::optional<Cause> seen(const CauseInputs& inputs, Bottleneck bottleneck) {
  const auto found = std::ranges::find(inputs.seen, bottleneck, &Cause::bottleneck);
  if (found == inputs.seen.end()) return std::nullopt;
  double share = found->share;
  // A sampling collector does not see which file was read: part of it may belong to the start-up.
  const bool is_blind = get(inputs.all, "waits.sampled") > 0;
  if (is_blind && bottleneck == Bottleneck::kInput) share -= get(inputs.all, "startup_share");
  // The hook has already timed the checkpoints in it.
  if (found->id == causes::kWrittenFiles.id) share -= get(inputs.all, "checkpoint_share");
  if (share < kSmallestCause) return std::nullopt;
  return cause(inputs, {found->id, found->name}, bottleneck, share, found->because);
}

// Sleeps and waits of the step thread, minus the part that reported phases may already include: a
// loader that sleeps is a wait for input and counts once.
std::vector<Cause> waited(const CauseInputs& inputs, double in_phases) {
  std::vector<Cause> found;
  for (const Cause& one : inputs.seen) {
    if (one.bottleneck != Bottleneck::kSerial) continue;
    const double held = std::min(in_phases, one.share);
    in_phases -= held;
    const double left = one.share - held;
    if (left < kSmallestCause) continue;
    const std::string beyond =
        held > 0
            ? fmt::format(", {} of the time not counted under other causes", show_percent(left))
            : "";
    found.push_back(
        cause(inputs, {one.id, one.name}, Bottleneck::kSerial, left, one.because + beyond));
  }
  return found;
}

// The hook sees time outside operators; the kernel's record shows that the thread slept then.
Cause as_wait(Cause serial, const std::vector<Cause>& waits) {
  const auto most = std::ranges::max_element(waits, {}, &Cause::share);
  if (most == waits.end() || most->share < kMostly * serial.share) return serial;
  Cause wait = most->share > serial.share ? *most : serial;
  wait.id = most->id;
  wait.name = most->name;
  wait.because = fmt::format("{}; {}", most->because, serial.because);
  return wait;
}

// Explained time that is not waste.
Cause no_cause(Bottleneck bottleneck, double share) {
  Cause none;
  none.bottleneck = bottleneck;
  none.share = share;
  return none;
}

// Waste that no other cause explains. A busy host with waiting devices is serial CPU work; anything
// else is reported as unknown.
std::optional<Cause> rest(const CauseInputs& inputs, const std::vector<Cause>& others) {
  const auto waste = find(inputs.all, "waste_in_compute_share");
  if (!waste) return std::nullopt;
  double left = *waste;
  for (const Cause& other : others) {
    // Time in the job's own phases is not in the waste to begin with.
    const bool is_phase = !parts_of(other.bottleneck, inputs.reported).empty();
    if (!is_phase) left -= other.share;
  }
  if (left < kCauseThatCounts) return std::nullopt;
  const double busy = get(inputs.all, "busy_cores");
  const std::string numbers = fmt::format(
      "accelerators unused {} of the time without a phase that explains it, {} cores busy",
      show_percent(left), show_number(busy));
  const bool has_devices = inputs.accelerator_kind != "cpu slot";
  const bool is_serial_known =
      std::ranges::find(others, Bottleneck::kSerial, &Cause::bottleneck) != others.end();
  if (has_devices && busy >= kBusyHostCore && !is_serial_known) {
    return cause(inputs, causes::kIdleDevices, Bottleneck::kSerial, left, numbers);
  }
  return cause(inputs, causes::kUnexplained, Bottleneck::kUnknown, left, numbers);
}

}  // namespace

std::map<std::string, double> plain_shares(const Evidence& hook, double wall_s) {
  // The hook's process may be only a part of what was run.
  const double part = wall_s > 0 ? std::clamp(get(hook, "hook.wall_s") / wall_s, 0.0, 1.0) : 0;
  Evidence plain;
  const auto give = [&](const char* name, std::optional<double> share) {
    if (share) plain[name] = std::clamp(*share * part, 0.0, 1.0);
  };
  give("startup_share", find(hook, "hook.startup_share"));
  give("import_share", find(hook, "hook.import_share"));
  give(kNeededImports, find(hook, "hook.installed_import_share"));
  if (const auto needed = plain.find(kNeededImports); needed != plain.end()) {
    // What its own modules do when they are imported may be what was needless.
    const double own = std::max(0.0, plain["import_share"] - needed->second);
    const double needless = std::max(0.0, get(hook, kNeedlessImports) - own);
    needed->second = std::max(0.0, needed->second - needless);
  }
  give("input_wait_share", find(hook, "hook.input_wait_share"));
  give("teardown_share", find(hook, "hook.teardown_share"));

  // Files forced to disk: as often as checkpoints were written for these, the rest for logs.
  const auto save = find(hook, "hook.save_share");
  const auto fsync = find(hook, "hook.fsync_share");
  const double fsyncs = get(hook, "hook.fsync_calls");
  const double saves = get(hook, "hook.save_calls");
  const double of_saves = fsyncs > 0 ? std::min(1.0, saves / fsyncs) : 1;
  if (save || fsync) give("checkpoint_share", save.value_or(0) + fsync.value_or(0) * of_saves);
  if (fsync) give("logging_share", *fsync * (1 - of_saves));

  // What the profiled steps spent outside operators and, as far as we know, not waiting for data.
  const auto python = find(hook, "hook.python_share");
  const auto gc = find(hook, "hook.gc_share");
  const double steps = std::max(0.0, 1 - get(hook, "hook.startup_share") -
                                         get(hook, "hook.teardown_share") - save.value_or(0));
  const double between =
      std::max(0.0, python.value_or(0) * steps - get(hook, "hook.input_wait_share") -
                        get(hook, "waits.hooked_collective_share"));
  const double serial = std::max(between, gc.value_or(0));
  if (python || gc) give("serial_share", serial);

  // What is left of the steps is compute.
  if (find(hook, "hook.startup_share")) {
    give("compute_share",
         std::max(0.0, steps - get(hook, "hook.input_wait_share") - fsync.value_or(0) - serial));
  }
  return plain;
}

std::vector<Cause> causes_of(const CauseInputs& inputs) {
  std::vector<Cause> causes;
  const auto keep = [&](std::optional<Cause> found) {
    if (found) causes.push_back(*std::move(found));
  };
  double in_phases = 0;
  const double needed = get(inputs.all, kNeededImports);
  for (const Bottleneck bottleneck : {Bottleneck::kInput, Bottleneck::kCommunication,
                                      Bottleneck::kLifecycle, Bottleneck::kSync}) {
    const auto found = timed(inputs, bottleneck);
    if (found) in_phases += found->share;
    // What loads the modules that it needs is needed as well.
    const bool is_needed = bottleneck == Bottleneck::kLifecycle && needed > 0;
    keep(found || is_needed ? found : seen(inputs, bottleneck));
  }
  auto serial = timed(inputs, Bottleneck::kSerial);
  std::vector<Cause> waits = waited(inputs, in_phases);
  if (serial) {
    const bool is_reported = !parts_of(Bottleneck::kSerial, inputs.reported).empty();
    keep(is_reported ? serial : as_wait(*serial, waits));
  } else {
    for (Cause& found : waits) keep(std::move(found));
  }
  if (inputs.asked) keep(allocation(inputs));
  // The tasks' own clocks of the plain run come before those of the one with the collectors.
  const bool is_wait_known = find(inputs.all, "cpu_wait_share").has_value();
  const auto crowded = contention(inputs);
  keep(crowded || is_wait_known ? crowded : seen(inputs, Bottleneck::kContention));
  const auto woken = wakeups(inputs);
  keep(woken ? woken : seen(inputs, Bottleneck::kWakeups));
  std::vector<Cause> known = causes;
  known.push_back(no_cause(Bottleneck::kAllocation, left_alone(inputs)));
  known.push_back(no_cause(Bottleneck::kLifecycle, needed));
  keep(rest(inputs, known));
  std::ranges::stable_sort(causes, std::ranges::greater{}, &Cause::share);
  return causes;
}

double left_alone(const CauseInputs& inputs) {
  const double total = get(inputs.all, "accelerators");
  const auto busy = find(inputs.all, "busy_accelerators");
  if (inputs.asked || total < 2 || !busy) return 0;
  const auto spare = allocation(inputs);
  const double whole = spare ? spare->share : 0;
  // What never works all at once would have done with less than all, by however little.
  const double most = find(inputs.all, "busy_accelerators_p95").value_or(total);
  if (most > total - kSpareAccelerator) return whole;
  return std::max(whole, 1 - std::clamp(*busy, 1.0, total) / total);
}

bool is_own_contention(const model::Cause& cause) {
  return cause.id == causes::kOwnThreads.id || cause.id == causes::kOwnQuota.id;
}

}  // namespace amdahl::profile
