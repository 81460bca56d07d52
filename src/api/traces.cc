#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/document.h"
#include "api/profile.h"
#include "model/codec.h"
#include "profile/advice.h"
#include "profile/why.h"

namespace amdahl::api {
namespace {

using profile::at;
using profile::kWhys;

constexpr std::size_t kShownKernels = 50;

Json by_why(const std::array<Nanos, kWhys>& times) {
  Json object = Json::object();
  for (const profile::WhyRow& row : profile::whys()) {
    if (times[at(row.why)] != Nanos{}) {
      object[std::string(row.name)] = times[at(row.why)].count();
    }
  }
  return object;
}

Json encode_gain(const profile::Gain& gain, bool named) {
  Json object = {{"time_ns", gain.time.count()},
                 {"share", gain.share},
                 {"ceiling", finite(gain.ceiling)},
                 {"expected", finite(gain.expected)},
                 {"replayed_ns", gain.replayed.count()}};
  if (!named) return object;
  object["without"] = Json::array({profile::name(gain.first)});
  if (gain.second != profile::Why::kUnknown) object["without"].push_back(name(gain.second));
  return object;
}

template <class Place>
Json encode_places(const std::vector<Place>& places) {
  Json list = Json::array();
  for (const Place& place : places) {
    list.push_back({{"why", profile::name(place.why)},
                    {"what", place.what},
                    {"line", place.line},
                    {"time_ns", place.time.count()},
                    {"times", place.times}});
  }
  return list;
}

Json encode_device(const profile::DeviceRow& row) {
  const profile::DeviceBreakdown& split = row.split;
  const auto gap = [&](profile::GapCause cause) { return split.gap(cause).count(); };
  return {{"name", row.name},
          {"source", row.source},
          {"events", split.events},
          {"kernels", split.kernels},
          {"short_kernels", split.short_kernels},
          {"streams", split.streams},
          {"span_ns", split.span.count()},
          {"busy_ns", split.busy.count()},
          {"idle_ns", split.idle.count()},
          {"compute_ns", split.compute.count()},
          {"comm_ns", split.communication.count()},
          {"mem_ns", split.memory.count()},
          {"comm_overlapped_by_compute_ns", split.overlapped.count()},
          {"exposed_comm_ns", split.exposed_communication.count()},
          {"exposed_mem_ns", split.exposed_memory.count()},
          {"gaps", row.gaps.gaps},
          {"gap_median_ns", split.gap_median.count()},
          {"gap_longest_ns", row.gaps.longest.count()},
          {"gap_host_wait_ns", gap(profile::GapCause::kHostWait)},
          {"gap_kernel_wait_ns", gap(profile::GapCause::kKernelWait)},
          {"gap_other_ns", gap(profile::GapCause::kOther)},
          {"gap_unknown_ns", gap(profile::GapCause::kUnknown)},
          {"idle_in_graphs_ns", row.gaps.in_graphs.count()},
          {"idle_by_reason_ns", by_why(row.gaps.by_why)},
          {"queue_mean", row.waiting_mean},
          {"queue_most", row.waiting_most},
          {"places", encode_places(row.gaps.places)}};
}

Json encode_ranks(const profile::Ranks& ranks) {
  Json list = Json::array();
  for (const profile::RankFacts& rank : ranks.ranks) {
    list.push_back({{"rank", rank.rank},
                    {"comm_ns", rank.communication.count()},
                    {"exposed_ns", rank.exposed.count()},
                    {"waited_ns", rank.waited.count()},
                    {"made_wait_ns", rank.made_wait.count()},
                    {"last", rank.last},
                    {"clock_ahead_ns", rank.shift.count()}});
  }
  Json collectives = Json::array();
  for (const profile::CollectiveFacts& facts : ranks.collectives) {
    collectives.push_back({{"name", facts.name},
                           {"times", facts.times},
                           {"ranks", facts.ranks},
                           {"skew_median_ns", facts.skew_median.count()},
                           {"skew_longest_ns", facts.skew_longest.count()},
                           {"waited_ns", facts.waited.count()},
                           {"transfer_ns", facts.transfer.count()}});
  }
  Json libraries = Json::array();
  for (const profile::LibraryTime& library : ranks.libraries) {
    libraries.push_back({{"library", library.library},
                         {"kernels", library.kernels},
                         {"time_ns", library.time.count()}});
  }
  Json object = {{"ranks", list},
                 {"collectives", collectives},
                 {"libraries", libraries},
                 {"unmatched", ranks.unmatched},
                 {"graph_kernels", ranks.graph_kernels},
                 {"graph_ns", ranks.graph_time.count()},
                 {"note", ranks.note}};
  if (ranks.straggler != model::kNone) {
    object["straggler"] = ranks.ranks[ranks.straggler].rank;
  }
  return object;
}

Json encode_steps(const std::vector<profile::StepRow>& steps) {
  Json list = Json::array();
  for (const profile::StepRow& step : steps) {
    list.push_back({{"rank", step.rank},
                    {"number", step.number},
                    {"start_ns", step.start.count()},
                    {"wall_ns", step.wall.count()},
                    {"input_ns", step.input.count()},
                    {"host_ns", step.host.count()},
                    {"device_ns", step.device.count()},
                    {"comm_ns", step.comm.count()},
                    {"idle_ns", step.idle.count()}});
  }
  return list;
}

Json encode_hta(const profile::HtaFigures& figures) {
  Json object = {{"rank", figures.rank},
                 {"temporal",
                  {{"idle_us", figures.temporal.idle_us},
                   {"compute_us", figures.temporal.compute_us},
                   {"non_compute_us", figures.temporal.non_compute_us},
                   {"kernel_us", figures.temporal.kernel_us},
                   {"idle_percent", figures.temporal.idle_percent},
                   {"compute_percent", figures.temporal.compute_percent},
                   {"non_compute_percent", figures.temporal.non_compute_percent}}},
                 {"kernel_types", Json::object()},
                 {"idle", Json::array()},
                 {"queues", Json::array()}};
  for (std::size_t kinds = 1; kinds < figures.kernel_types.us.size(); ++kinds) {
    const std::int64_t us = figures.kernel_types.us[kinds];
    if (us > 0) object["kernel_types"][profile::hta_kernel_type(kinds)] = us;
  }
  if (figures.overlap_percent) object["overlap_percent"] = *figures.overlap_percent;
  for (const profile::HtaIdle& idle : figures.idle) {
    object["idle"].push_back({{"stream", idle.stream},
                              {"category", idle.category},
                              {"idle_us", idle.idle_us},
                              {"ratio", idle.ratio}});
  }
  for (const profile::HtaQueue& queue : figures.queues) {
    object["queues"].push_back({{"stream", queue.stream},
                                {"count", queue.count},
                                {"mean", queue.mean},
                                {"min", queue.least},
                                {"median", queue.median},
                                {"max", queue.most}});
  }
  object["launches"] = {{"count", figures.launches.count},
                        {"host_us", figures.launches.host_us},
                        {"device_us", figures.launches.device_us},
                        {"delay_us", figures.launches.delay_us},
                        {"shorter_than_launch", figures.launches.shorter_than_launch},
                        {"slow_launches", figures.launches.slow_launches},
                        {"late_starts", figures.launches.late_starts}};
  return object;
}

Json encode_sources(const std::vector<profile::SourceRow>& sources) {
  Json list = Json::array();
  for (const profile::SourceRow& source : sources) {
    list.push_back({{"file", source.file},
                    {"format", source.format},
                    {"rank", source.rank},
                    {"world_size", source.world_size},
                    {"bytes", source.bytes},
                    {"losses", source.losses}});
  }
  return list;
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

// What is known of it; null where nothing is.
void add_roofline(const profile::Roofline& work, Json& row) {
  const bool has_flops = work.flops > 0;
  const bool has_bytes = work.bytes > 0;
  row["known_ns"] = work.time.count();
  row["flops_per_s"] = has_flops ? Json(work.flops_per_s()) : Json();
  row["bytes_per_s"] = has_bytes ? Json(work.bytes_per_s()) : Json();
  row["share_of_peak_flops"] = or_null(work.of_peak());
  row["share_of_peak_bandwidth"] = or_null(work.of_bandwidth());
  row["limit"] = work.side().empty() ? Json() : Json(work.side());
}

Json encode_work(const profile::KernelTable& work) {
  Json kinds = Json::array();
  for (const profile::KernelKindRow& row : work.kinds) {
    kinds.push_back({{"kind", profile::name(row.kind)},
                     {"launches", row.launches},
                     {"time_ns", row.time.count()},
                     {"share", row.share},
                     {"largest", row.largest}});
    add_roofline(row.work, kinds.back());
  }
  Json kernels = Json::array();
  for (std::size_t i = 0; i < std::min(kShownKernels, work.kernels.size()); ++i) {
    const profile::KernelRow& row = work.kernels[i];
    kernels.push_back({{"name", row.name},
                       {"kind", profile::name(row.kind)},
                       {"launches", row.launches},
                       {"time_ns", row.time.count()},
                       {"occupancy", or_null(row.occupancy)},
                       {"measured_compute", or_null(row.measured_compute)},
                       {"measured_memory", or_null(row.measured_memory)}});
    add_roofline(row.work, kernels.back());
  }
  Json advice = Json::array();
  for (const profile::KernelAdvice& one : work.advice) {
    advice.push_back({{"id", one.id}, {"says", one.says}, {"share", one.share}});
  }
  return {{"time_ns", work.time.count()},
          {"launches", work.launches},
          {"mfu", or_null(work.mfu)},
          {"known_product_share", work.shaped},
          {"implausible_launches", work.work.implausible},
          {"kinds", kinds},
          {"kernels", kernels},
          {"advice", advice}};
}

Json encode_serving(const std::vector<profile::ServingPhase>& phases) {
  Json list = Json::array();
  for (const profile::ServingPhase& phase : phases) {
    list.push_back({{"kind", profile::name(phase.kind)},
                    {"steps", phase.steps},
                    {"total_ns", phase.total.count()},
                    {"median_ns", phase.median.count()},
                    {"requests", phase.requests},
                    {"tokens", phase.tokens},
                    {"device_busy_share", phase.busy}});
  }
  return list;
}

Json encode_speeds(const std::vector<profile::CollectiveSpeed>& speeds) {
  Json list = Json::array();
  for (const profile::CollectiveSpeed& row : speeds) {
    list.push_back({{"name", row.name},
                    {"element_type", row.element_type},
                    {"bytes", row.bytes},
                    {"group_size", row.ranks},
                    {"times", row.times},
                    {"time_ns", row.time.count()},
                    {"transfer_median_ns", row.transfer.count()},
                    {"algorithm_bytes_per_s", row.algorithm},
                    {"bus_bytes_per_s", row.bus},
                    {"link_peak_bytes_per_s", row.peak > 0 ? Json(row.peak) : Json()},
                    {"overlapped_share", row.overlapped}});
  }
  return list;
}

Json encode_slowdowns(const std::vector<profile::Slowdown>& rows, std::string_view key) {
  Json list = Json::array();
  for (const profile::Slowdown& row : rows) {
    Json object = {{"slowdown", row.factor}, {"by_step", row.by_step}};
    object[std::string(key)] = row.number < 0 ? Json(row.name) : Json(row.number);
    list.push_back(std::move(object));
  }
  return list;
}

Json encode_pipeline(const profile::Pipeline& pipeline) {
  Json steps = Json::array();
  for (const profile::PipelineStep& step : pipeline.steps) {
    steps.push_back({{"number", step.number},
                     {"measured_ns", step.measured.count()},
                     {"replayed_ns", step.replayed.count()},
                     {"slowdown", step.factor}});
  }
  return {{"ranks", pipeline.replicas},
          {"stages", pipeline.stages},
          {"operations", pipeline.operations},
          {"steps_left_out", pipeline.steps_left_out},
          {"steps", steps},
          {"measured_ns", pipeline.measured.count()},
          {"replayed_ns", pipeline.replayed.count()},
          {"even_ns", pipeline.even.count()},
          {"slowdown", pipeline.slowdown},
          {"bubble_share", pipeline.bubble},
          {"by_operation", encode_slowdowns(pipeline.by_kind, "operation")},
          {"by_stage", encode_slowdowns(pipeline.by_stage, "stage")},
          {"by_rank", encode_slowdowns(pipeline.by_replica, "rank")},
          {"pass_correlation", pipeline.correlation},
          {"pass_variation", pipeline.variation},
          {"advice", pipeline.advice}};
}

// Only where a file has them.
void add_kernels_and_threads(const profile::TraceReport& report, Json& document) {
  for (const profile::KernelFacts& kernel : report.kernels) {
    document["kernels"].push_back({{"kernel", kernel.kernel},
                                   {"launches", kernel.launches},
                                   {"bound", name(kernel.bound)},
                                   {"low_occupancy", kernel.low_occupancy},
                                   {"ceiling", finite(kernel.ceiling)},
                                   {"ceiling_estimated", kernel.is_estimated},
                                   {"job_ceiling", finite(kernel.job_ceiling)},
                                   {"share_of_busy", kernel.share_of_busy},
                                   {"because", kernel.because}});
  }
  for (const profile::WaitRow& row : report.waits) {
    document["waits"].push_back({{"thread", row.thread},
                                 {"state", row.state},
                                 {"reason", row.reason},
                                 {"total_ns", row.total.count()},
                                 {"count", row.count},
                                 {"longest_ns", row.longest.count()},
                                 {"where", row.where}});
  }
  for (const profile::HotRow& row : report.hot) {
    document["hot"].push_back(
        {{"event", row.event}, {"function", row.function}, {"share", row.share}});
  }
}

}  // namespace

Json traces(const app::TraceAnswer& answer) {
  const profile::TraceReport& report = answer.report;
  Json json = {{"sources", encode_sources(report.sources)},
               {"wall_ns", report.wall.count()},
               {"bottleneck", model::name(report.profile.bottleneck)},
               {"rule", report.profile.rule},
               {"evidence", report.profile.evidence},
               {"missing", report.profile.missing},
               {"readings", report.readings},
               {"causes", Json::array()},
               {"devices", Json::array()},
               {"device_work", encode_work(report.work)},
               {"steps", encode_steps(report.steps)},
               {"ranks", encode_ranks(report.ranks)},
               {"collective_speeds", encode_speeds(report.speeds)},
               {"serving", encode_serving(report.serving)},
               {"critical_path",
                {{"by_reason_ns", by_why(report.path.by_why)},
                 {"segments", report.path.segments.size()},
                 {"places", encode_places(report.path.shares)}}},
               {"gains", Json::array()},
               {"pairs", Json::array()}};
  const profile::Framework framework = profile::framework_of_trace(report.profile.evidence);
  for (const model::Cause& cause : report.profile.causes) {
    const std::optional<profile::Why> why = profile::why_of(cause);
    json["causes"].push_back(
        {{"id", cause.id},
         {"name", cause.name},
         {"class", model::name(cause.bottleneck)},
         {"accelerator_seconds", cause.accelerator_seconds},
         {"share", cause.share},
         {"ceiling", profile::is_unexplained(cause) ? Json() : finite(cause.ceiling)},
         {"because", cause.because},
         {"try", why ? profile::what_to_try(*why, framework) : ""}});
  }
  for (const profile::DeviceRow& row : report.devices) {
    json["devices"].push_back(encode_device(row));
  }
  for (const profile::Gain& gain : report.gains.alone) {
    json["gains"].push_back(encode_gain(gain, true));
  }
  for (const profile::Gain& gain : report.gains.pairs) {
    json["pairs"].push_back(encode_gain(gain, true));
  }
  if (report.answer) {
    json["what_if"] = encode_gain(*report.answer, false);
    json["what_if"]["asked"] = report.asked;
  }
  if (report.pipeline) json["pipeline"] = encode_pipeline(*report.pipeline);
  add_kernels_and_threads(report, json);
  for (const profile::HtaFigures& figures : answer.hta) {
    json["hta"].push_back(encode_hta(figures));
  }
  return document(std::move(json));
}

}  // namespace amdahl::api
