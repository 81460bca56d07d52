#include "base/hash.h"
#include "model/codec_io.h"

namespace amdahl::model {

template <class Io, Is<FileDigest> T>
void fields(Io& io, T& file) {
  io.must("path", file.path);
  io("sha256", file.sha256);
  io("bytes", file.bytes);
}

template <class Io, Is<HostNoise> T>
void fields(Io& io, T& noise) {
  io("load1", noise.load1);
  io("foreign_cpu_cores", noise.foreign_cpu_cores);
  io("steal_share", noise.steal_share);
  io("psi_cpu_some", noise.psi_cpu_some);
  io("run_queue", noise.run_queue);
}

template <class Io, Is<CgroupUse> T>
void fields(Io& io, T& use) {
  io("quota_cores", use.quota_cores);
  io("throttled_ns", use.throttled);
  io("throttled_periods", use.throttled_periods);
  io("memory_limit_bytes", use.memory_limit_bytes);
  io("memory_stalls", use.memory_stalls);
}

template <class Io, Is<Receipt> T>
void fields(Io& io, T& receipt) {
  io("schema", receipt.schema);
  io.must("id", receipt.id);
  io.must("family", receipt.family);
  io("arm", receipt.arm);
  io("plan_digest", receipt.plan_digest);
  io("argv", receipt.argv);
  io("host", receipt.host);
  io("boot_id", receipt.boot_id);
  io("hardware", receipt.hardware);
  io("cpus", receipt.cpus);
  io("accelerators", receipt.accelerators);
  io("accelerator_kind", receipt.accelerator_kind);
  io("started_ns", receipt.started);
  io("wall_ns", receipt.wall);
  io("cpu_user_ns", receipt.cpu_user);
  io("cpu_system_ns", receipt.cpu_system);
  io("peak_rss_bytes", receipt.peak_rss_bytes);
  io("voluntary_switches", receipt.voluntary_switches);
  io("involuntary_switches", receipt.involuntary_switches);
  io("minor_faults", receipt.minor_faults);
  io("major_faults", receipt.major_faults);
  io("read_blocks", receipt.read_blocks);
  io("write_blocks", receipt.write_blocks);
  io("peak_threads", receipt.peak_threads);
  io("ending", receipt.ending);
  io("code", receipt.code);
  io("reason", receipt.reason);
  io("left_behind", receipt.left_behind);
  io("work", receipt.work);
  io("metrics", receipt.metrics);
  io("phases", receipt.phases);
  io("report_problems", receipt.report_problems);
  io("utilisation", receipt.utilisation);
  io("outputs", receipt.outputs);
  io("input_fingerprint", receipt.input_fingerprint);
  io("input_bytes", receipt.input_bytes);
  io("noise", receipt.noise);
  io("cgroup", receipt.cgroup);
  io("run_delay_ns", receipt.run_delay);
  io("observer_cpu_ns", receipt.observer_cpu);
  io("stdout_tail", receipt.stdout_tail);
  io("stderr_tail", receipt.stderr_tail);
  io("stdout_sha256", receipt.stdout_sha256);
  io("digest", receipt.digest);
}

template <class Io, Is<ArmFact> T>
void fields(Io& io, T& arm) {
  io("cost", arm.cost);
  io("wall_s", arm.wall_s);
  io("cpu_s", arm.cpu_s);
  io("work", arm.work);
  io("metric", arm.metric);
  io("quality", arm.quality);
  io("output_digest", arm.output_digest);
  io("input_fingerprint", arm.input_fingerprint);
  io("input_bytes", arm.input_bytes);
  io("host", arm.host);
  io("foreign_cpu_cores", arm.foreign_cpu_cores);
  io("steal_share", arm.steal_share);
  io("psi_cpu_some", arm.psi_cpu_some);
  io("started_s", arm.started_s);
  io("accelerators", arm.accelerators);
  io.brief("phases", arm.phases);
  io.brief("run_delay_s", arm.run_delay_s);
  io.brief("throttled_s", arm.throttled_s);
  io.brief("left_behind", arm.left_behind);
  io("failed", arm.failed);
  io("failure", arm.failure);
}

template <class Io, Is<StepPair> T>
void fields(Io& io, T& step) {
  io("variant_second", step.variant_second);
  io.must("a", step.a);
  io.must("b", step.b);
}

template <class Io, Is<PairFact> T>
void fields(Io& io, T& pair) {
  io.must("reservation", pair.reservation);
  io("index", pair.index);
  io("purpose", pair.purpose);
  io("target", pair.target);
  io("variant_second", pair.variant_second);
  io("ran_variant_second", pair.ran_variant_second);
  io.brief("concurrent", pair.concurrent);
  io.brief("contended", pair.contended);
  io.brief("stratum", pair.stratum);
  io.brief("block", pair.block);
  io.brief("steps", pair.steps);
  io("a", pair.a);
  io("b", pair.b);
  io("voided", pair.voided);
  io("void_reason", pair.void_reason);
}

template <class Io, Is<Usage> T>
void fields(Io& io, T& usage) {
  io("schema", usage.schema);
  io.must("job", usage.job);
  io.must("family", usage.family);
  io("user", usage.user);
  io("host", usage.host);
  io("command", usage.command);
  io("workdir", usage.workdir);
  io("accelerators", usage.accelerators);
  io("accelerator_kind", usage.accelerator_kind);
  io("start_ns", usage.start);
  io("end_ns", usage.end);
  io("failed", usage.failed);
  io("ending", usage.ending);
  io("work", usage.work);
  io("utilisation", usage.utilisation);
  io("phases", usage.phases);
}

template Json encode(const Receipt&);
template Result<Receipt> decode(const Json&);
template Result<Receipt> decode_text(std::string_view);
template Json encode(const PairFact&);
template Result<PairFact> decode(const Json&);
template Result<PairFact> decode_text(std::string_view);
template Json encode(const Usage&);
template Result<Usage> decode(const Json&);
template Result<Usage> decode_text(std::string_view);

namespace {

std::string digest_of(const Receipt& receipt) {
  Json json = encode(receipt);
  json.erase("digest");
  return sha256_hex(dump_json(json));
}

}  // namespace

void seal(Receipt& receipt) { receipt.digest = digest_of(receipt); }

bool check_seal(const Receipt& receipt) { return receipt.digest == digest_of(receipt); }

}  // namespace amdahl::model
