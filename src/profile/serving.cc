#include "profile/serving.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/busy.h"

namespace amdahl::profile {
namespace {

constexpr std::array<std::string_view, 3> kKindNames = {"prefill", "decode", "mixed"};

// The number behind `key`.
std::optional<double> number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == text.npos) return std::nullopt;
  double value = 0;
  const char* const from = text.data() + at + key.size();
  const auto read = std::from_chars(from, text.data() + text.size(), value);
  if (read.ec != std::errc{} || value < 0 || value > 1e9) return std::nullopt;
  return value;
}

// "2(640)": requests and their tokens. Newer versions write "2(sq640sk640)".
struct Share {
  double requests = 0;
  double tokens = 0;
};
std::optional<Share> share_after(std::string_view text, std::string_view key) {
  const auto requests = number_after(text, key);
  if (!requests) return std::nullopt;
  const std::string_view rest = text.substr(text.find(key));
  const auto tokens = number_after(rest, rest.find("(sq") == rest.npos ? "(" : "(sq");
  return Share{*requests, tokens.value_or(*requests)};
}

std::optional<ServingStep> of_sglang(std::string_view range) {
  constexpr std::string_view kStep = "step[";
  if (!range.starts_with(kStep)) return std::nullopt;
  const auto requests = number_after(range, " bs=");
  if (!requests) return std::nullopt;
  const std::string_view mode = range.substr(kStep.size());
  ServingStep step{.requests = *requests, .tokens = number_after(range, " toks=").value_or(0)};
  if (mode.starts_with("DECODE")) {
    step.tokens = std::max(step.tokens, step.requests);
  } else if (mode.starts_with("MIXED")) {
    step.kind = ServingKind::kMixed;
  } else if (mode.starts_with("EXTEND")) {
    step.kind = ServingKind::kPrefill;
  } else {
    return std::nullopt;
  }
  return step;
}

std::optional<ServingStep> of_vllm(std::string_view range) {
  if (!range.starts_with("execute_")) return std::nullopt;
  const auto context = share_after(range, "context_");
  const auto generation = share_after(range, "generation_");
  if (!context || !generation || context->requests + generation->requests <= 0) {
    return std::nullopt;
  }
  ServingStep step{.requests = context->requests + generation->requests,
                   .tokens = context->tokens + generation->tokens};
  if (context->requests > 0) {
    step.kind = generation->requests > 0 ? ServingKind::kMixed : ServingKind::kPrefill;
  }
  return step;
}

struct Range {
  std::uint32_t source = 0;
  Nanos from{};
  Nanos to{};
  ServingStep step{};
  std::uint32_t thread = model::kNone;  // Of the host that marked it; kNone: of a device.
};

// Servers mark a step twice, one range within the other; the outer one counts. A host that ends its
// range before the devices did the work launched in it works ahead: then the devices' times count.
std::vector<Range> of_devices(const model::Trace& trace, const std::vector<Range>& marked) {
  std::vector<Range> outer;
  for (const Range& range : marked) {
    const bool is_inner =
        !outer.empty() && outer.back().thread == range.thread && range.from < outer.back().to;
    if (!is_inner) outer.push_back(range);
  }
  std::vector<Range> found = outer;
  for (Range& range : found) range.from = Nanos::max(), range.to = Nanos::min();
  for (const model::DeviceEvent& event : trace.device_events) {
    if (event.launch == model::kNone || !keeps_busy(event)) continue;
    const model::HostEvent& launch = trace.host_events[event.launch];
    const auto after = std::ranges::upper_bound(
        outer, std::pair(launch.thread, launch.start), {},
        [](const Range& range) { return std::pair(range.thread, range.from); });
    if (after == outer.begin()) continue;
    const Range& around = *std::prev(after);
    if (around.thread != launch.thread || launch.start >= around.to) continue;
    Range& range = found[static_cast<std::size_t>(&around - outer.data())];
    range.from = std::min(range.from, event.start);
    range.to = std::max(range.to, event.end());
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].to <= outer[i].to) found[i] = outer[i];
  }
  return found;
}

std::vector<Range> ranges_of(const model::Trace& trace) {
  std::vector<Range> ranges;
  for (const model::DeviceEvent& event : trace.device_events) {
    if (event.kind != model::DeviceKind::kAnnotation || event.stream == model::kNone) continue;
    if (const auto step = serving_step(trace.name(event))) {
      ranges.push_back(
          {trace.devices[trace.device_of(event)].source, event.start, event.end(), *step});
    }
  }
  if (!ranges.empty()) return ranges;
  for (const model::HostEvent& event : trace.host_events) {
    if (event.kind != model::HostKind::kAnnotation) continue;
    if (const auto step = serving_step(trace.name(event))) {
      ranges.push_back({trace.processes[trace.threads[event.thread].process].source, event.start,
                        event.end(), *step, event.thread});
    }
  }
  std::ranges::stable_sort(ranges, {},
                           [](const Range& range) { return std::pair(range.thread, range.from); });
  return of_devices(trace, ranges);
}

std::vector<std::vector<Interval>> busy_by_source(const Prepared& in) {
  std::vector<std::vector<Interval>> busy(in.trace.sources.size());
  for (const model::DeviceEvent& event : in.trace.device_events) {
    if (!keeps_busy(event)) continue;
    busy[in.trace.devices[in.trace.device_of(event)].source].push_back({event.start, event.end()});
  }
  for (auto& one : busy) one = merged(std::move(one));
  return busy;
}

}  // namespace

std::string_view name(ServingKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::optional<ServingStep> serving_step(std::string_view range) {
  const auto step = of_sglang(range);
  return step ? step : of_vllm(range);
}

std::vector<ServingPhase> serving_phases(const Prepared& prepared) {
  const std::vector<Range> ranges = ranges_of(prepared.trace);
  if (ranges.empty()) return {};
  const auto busy = busy_by_source(prepared);
  std::vector<ServingPhase> phases;
  for (const ServingKind kind :
       {ServingKind::kPrefill, ServingKind::kDecode, ServingKind::kMixed}) {
    ServingPhase phase{.kind = kind};
    std::vector<Nanos> times;
    Nanos at_work{};
    for (const Range& range : ranges) {
      if (range.step.kind != kind) continue;
      times.push_back(range.to - range.from);
      phase.total += times.back();
      phase.requests += range.step.requests;
      phase.tokens += range.step.tokens;
      at_work += within(busy[range.source], {range.from, range.to});
    }
    if (times.empty()) continue;
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
    phase.median = times[times.size() / 2];
    phase.steps = times.size();
    phase.requests /= static_cast<double>(times.size());
    phase.tokens /= static_cast<double>(times.size());
    phase.busy = phase.total > Nanos{} ? to_seconds(at_work) / to_seconds(phase.total) : 0;
    phases.push_back(phase);
  }
  std::ranges::stable_sort(phases, std::greater<>{}, &ServingPhase::total);
  return phases;
}

std::vector<KernelAdvice> serving_advice(const std::vector<ServingPhase>& phases, bool has_graphs) {
  constexpr double kFewRequests = 16;
  constexpr double kIdle = 0.8;
  constexpr double kMuch = 0.3;
  double all = 0;
  bool has_decodes = false;
  for (const ServingPhase& phase : phases) {
    all += to_seconds(phase.total);
    has_decodes = has_decodes || phase.kind != ServingKind::kPrefill;
  }
  std::vector<KernelAdvice> advice;
  for (const ServingPhase& phase : phases) {
    const double share = all > 0 ? to_seconds(phase.total) / all : 0;
    if (share < 0.05) continue;
    if (phase.kind == ServingKind::kDecode && phase.busy < kIdle) {
      advice.push_back(
          {"serving.decode-gaps",
           fmt::format(
               "decode steps leave the device idle for {} of their time: {}overlap scheduling "
               "with the step before (vLLM --async-scheduling; SGLang does so unless "
               "--disable-overlap-schedule)",
               show_percent(1 - phase.busy),
               has_graphs ? "" : "use CUDA graphs (no --enforce-eager), and "),
           share * (1 - phase.busy)});
    } else if (phase.kind == ServingKind::kDecode && phase.requests < kFewRequests &&
               share > kMuch) {
      advice.push_back(
          {"serving.small-decode-batch",
           fmt::format("decode steps serve {:.1f} requests on average and read all weights for "
                       "them: send more requests at once (vLLM --max-num-seqs, SGLang "
                       "--max-running-requests), or decode speculatively",
                       phase.requests),
           share});
    } else if (phase.kind == ServingKind::kPrefill && has_decodes && share > kMuch) {
      advice.push_back(
          {"serving.prefill",
           fmt::format("prefill steps of {:.0f} tokens take {} of the steps' time and hold up "
                       "decodes: cache common prefixes, bound a step's tokens (vLLM "
                       "--max-num-batched-tokens, SGLang --chunked-prefill-size), or serve prefill "
                       "apart from decode",
                       phase.tokens, show_percent(share)),
           share});
    }
  }
  return advice;
}

}  // namespace amdahl::profile
