// codec_fields.h: the list of JSON fields of each domain type, in documented order.
#pragma once

#include "model/codec.h"
#include "model/codec_io.h"

// io(name, member) is an optional field, io.must() a required one. io.brief() omits a field while
// it is empty, so that adding such a field does not change existing digests and keys. A member
// without a line here does not compile (codec_io.h). For codec*.cc only.
namespace amdahl::model {

template <class Io, Is<Change> T>
constexpr void fields(Io& io, T& change) {
  io.brief("env", change.env);
  io.brief("args", change.args);
  io.brief("config", change.config);
  io.brief("accelerators", change.accelerators);
  io.brief("wrap", change.wrap);
  io.brief("inject", change.inject);
  io.brief("patch", change.patch);
  io.brief("needs_build", change.needs_build);
}

template <class Io, Is<Span> T>
constexpr void fields(Io& io, T& span) {
  io.must("name", span.name);
  io("start_ns", span.start);
  io("duration_ns", span.duration);
}

template <class Io, Is<Utilisation> T>
constexpr void fields(Io& io, T& utilisation) {
  io("interval_ns", utilisation.interval);
  io("metric", utilisation.metric);
  io("permille", utilisation.accelerators);
}

template <class Io, Is<Knob> T>
constexpr void fields(Io& io, T& knob) {
  io.must("name", knob.name);
  io.brief("arg", knob.arg);
  io.brief("aliases", knob.aliases);
  io.brief("env", knob.env);
  io.brief("config", knob.config);
  io.brief("value", knob.value);
  io.brief("min", knob.min);
  io.brief("max", knob.max);
  io.brief("on", knob.on);
  io.brief("off", knob.off);
  io.brief("choices", knob.choices);
  io.brief("effect", knob.effect);
}

template <class Io, Is<Output> T>
constexpr void fields(Io& io, T& output) {
  io.must("path", output.path);
  io("digest", output.digest);
}

template <class Io, Is<Quality> T>
constexpr void fields(Io& io, T& quality) {
  io.must("name", quality.name);
  io("tolerance", quality.tolerance);
  io("higher_is_better", quality.higher_is_better);
  io.brief("pattern", quality.pattern);
}

template <class Io, Is<Stratum> T>
constexpr void fields(Io& io, T& stratum) {
  io.must("name", stratum.name);
  io("weight", stratum.weight);
  io.brief("env", stratum.env);
  io.brief("args", stratum.args);
  io.brief("size", stratum.size);
}

template <class Io, Is<Layout> T>
constexpr void fields(Io& io, T& layout) {
  io("nodes", layout.nodes);
  io("tasks_per_node", layout.tasks_per_node);
}

template <class Io, Is<Spec> T>
constexpr void fields(Io& io, T& spec) {
  io.must("family", spec.family);
  io.must("command", spec.command);
  io("workdir", spec.workdir);
  io("env", spec.env);
  io("repo", spec.repo);
  io("build", spec.build);
  io.brief("check", spec.check);
  io.brief("paths", spec.paths);
  io.brief("deny", spec.deny);
  io.brief("network", spec.network);
  io.brief("layout", spec.layout);
  io("accelerators", spec.accelerators);
  io("cpus", spec.cpus);
  io("time_limit_ns", spec.time_limit);
  io("memory_limit_mb", spec.memory_limit_mb);
  io("metric", spec.metric);
  io("lower_is_better", spec.lower_is_better);
  io("work_unit", spec.work_unit);
  io("work_pattern", spec.work_pattern);
  io("fixed_work", spec.fixed_work);
  io("outputs", spec.outputs);
  io("quality", spec.quality);
  io("inputs", spec.inputs);
  io("knobs", spec.knobs);
  io.brief("strata", spec.strata);
  io("pairing", spec.pairing);
}

template <class Io, Is<Plan> T>
constexpr void fields(Io& io, T& plan) {
  io.must("argv", plan.argv);
  io.brief("env", plan.env);
  io.brief("unset", plan.unset);
  io("workdir", plan.workdir);
  io("accelerators", plan.accelerators);
  io("cpus", plan.cpus);
  io.brief("config", plan.config);
  io.brief("inject", plan.inject);
  io.brief("patch", plan.patch);
  io.brief("needs_build", plan.needs_build);
}

template <class Io, Is<Cause> T>
constexpr void fields(Io& io, T& cause) {
  io("id", cause.id);
  io.must("name", cause.name);
  io("bottleneck", cause.bottleneck);
  io("accelerator_seconds", cause.accelerator_seconds);
  io("share", cause.share);
  io("ceiling", cause.ceiling);
  io("because", cause.because);
}

template <class Io, Is<Profile> T>
constexpr void fields(Io& io, T& profile) {
  io.must("id", profile.id);
  io.must("family", profile.family);
  io("baseline", profile.baseline);
  io("at_ns", profile.at);
  io("wall_ns", profile.wall);
  io("accelerators", profile.accelerators);
  io("evidence", profile.evidence);
  io("causes", profile.causes);
  io("bottleneck", profile.bottleneck);
  io("rule", profile.rule);
  io("missing", profile.missing);
}

template <class Io, Is<Origin> T>
constexpr void fields(Io& io, T& origin) {
  io("kind", origin.kind);
  io("ref", origin.ref);
}

template <class Io, Is<Hypothesis> T>
constexpr void fields(Io& io, T& hypothesis) {
  io.must("id", hypothesis.id);
  io.must("family", hypothesis.family);
  io("bottleneck", hypothesis.bottleneck);
  io("change", hypothesis.change);
  io("key", hypothesis.key);
  io("title", hypothesis.title);
  io("mechanism", hypothesis.mechanism);
  io("origin", hypothesis.origin);
  io("predicted_gain", hypothesis.predicted_gain);
  io("ceiling_share", hypothesis.ceiling_share);
  io("prior", hypothesis.prior);
  io("profile", hypothesis.profile);
  io.brief("component", hypothesis.component);
  io.brief("race", hypothesis.race);
  io.brief("dose", hypothesis.dose);
  io.brief("dose_value", hypothesis.dose_value);
}

template <class Io, Is<Experiment> T>
constexpr void fields(Io& io, T& experiment) {
  io.must("id", experiment.id);
  io.must("hypothesis", experiment.hypothesis);
  io.must("family", experiment.family);
  io("campaign", experiment.campaign);
  io("metric", experiment.metric);
  io.brief("lower_is_better", experiment.lower_is_better);
  io.brief("spec", experiment.spec);
  io("claim", experiment.claim);
  io("sigma", experiment.sigma);
  io("delta", experiment.delta);
  io("alpha", experiment.alpha);
  io("beta", experiment.beta);
  io("cap", experiment.cap);
  io("weight", experiment.weight);
  io("seed", experiment.seed);
  io("baseline", experiment.baseline);
  io("baseline_change", experiment.baseline_change);
  io("registered_ns", experiment.registered);
}

template <class Io, Is<Comparison> T>
constexpr void fields(Io& io, T& comparison) {
  io.must("answer", comparison.answer);
  io("pairs", comparison.pairs);
  io("voided", comparison.voided);
  io("log_e_win", comparison.log_e_win);
  io("log_e_futile", comparison.log_e_futile);
  io("log_e_worse", comparison.log_e_worse);
  io("effect", comparison.effect);
  io("lower", comparison.lower);
  io("upper", comparison.upper);
  io("shrunk", comparison.shrunk);
  io("sigma", comparison.sigma);
  io("delta", comparison.delta);
  io("smallest_visible", comparison.smallest_visible);
  io("because", comparison.because);
}

template <class Io, Is<Finding> T>
constexpr void fields(Io& io, T& finding) {
  io.must("check", finding.check);
  io.must("vote", finding.vote);
  io("decisive", finding.decisive);
  io("mandatory", finding.mandatory);
  io("because", finding.because);
}

template <class Io, Is<Verdict> T>
constexpr void fields(Io& io, T& verdict) {
  io.must("hypothesis", verdict.hypothesis);
  io("experiment", verdict.experiment);
  io.must("kind", verdict.kind);
  io("reason", verdict.reason);
  io("comparison", verdict.comparison);
  io("at_ns", verdict.at);
}

template <class Io, Is<GatePacket> T>
constexpr void fields(Io& io, T& packet) {
  io.must("experiment", packet.experiment);
  io.must("hypothesis", packet.hypothesis);
  io.must("family", packet.family);
  io("claim", packet.claim);
  io("comparison", packet.comparison);
  io("votes", packet.votes);
  io("diff", packet.diff);
  io("spent_accelerator_s", packet.spent_accelerator_s);
  io("saves_accelerator_h_per_day", packet.saves_accelerator_h_per_day);
  io.brief("holds_for", packet.holds_for);
  io("rollback", packet.rollback);
}

template <class Io, Is<GateDecision> T>
constexpr void fields(Io& io, T& decision) {
  io.must("approved", decision.approved);
  io.must("actor", decision.actor);
  io("reason", decision.reason);
  io("packet", decision.packet);
}

template <class Io, Is<StackResult> T>
constexpr void fields(Io& io, T& stack) {
  io.must("family", stack.family);
  io("changes", stack.changes);
  io("comparison", stack.comparison);
  io("original_cost", stack.original_cost);
  io("stack_cost", stack.stack_cost);
  io("work_unit", stack.work_unit);
  io("at_ns", stack.at);
}

template <class Io, Is<Engagement> T>
constexpr void fields(Io& io, T& engagement) {
  io.must("fix", engagement.fix);
  io("times", engagement.times);
  io.brief("where", engagement.where);
  io.brief("refused", engagement.refused);
}

template <class Io, Is<FileDigest> T>
constexpr void fields(Io& io, T& file) {
  io.must("path", file.path);
  io("sha256", file.sha256);
  io("bytes", file.bytes);
  io.brief("presence_only", file.presence_only);
}

template <class Io, Is<HostNoise> T>
constexpr void fields(Io& io, T& noise) {
  io("load1", noise.load1);
  io("foreign_cpu_cores", noise.foreign_cpu_cores);
  io("steal_share", noise.steal_share);
  io("psi_cpu_some", noise.psi_cpu_some);
  io("run_queue", noise.run_queue);
}

template <class Io, Is<CgroupUse> T>
constexpr void fields(Io& io, T& use) {
  io("quota_cores", use.quota_cores);
  io("throttled_ns", use.throttled);
  io("throttled_periods", use.throttled_periods);
  io("memory_limit_bytes", use.memory_limit_bytes);
  io("memory_stalls", use.memory_stalls);
}

template <class Io, Is<StepReports> T>
constexpr void fields(Io& io, T& steps) {
  io("arms", steps.arms);
  io("seconds", steps.seconds);
  io("work", steps.work);
}

template <class Io, Is<RankUse> T>
constexpr void fields(Io& io, T& use) {
  io.must("rank", use.rank);
  io("cpu_ns", use.cpu);
  io("cores", use.cores);
}

template <class Io, Is<HostUse> T>
constexpr void fields(Io& io, T& use) {
  io.must("host", use.host);
  io("boot_id", use.boot_id);
  io("hardware", use.hardware);
  io("noise", use.noise);
  io("cpu_ns", use.cpu);
  io("peak_rss_bytes", use.peak_rss_bytes);
  io.brief("ranks", use.ranks);
}

template <class Io, Is<Receipt> T>
constexpr void fields(Io& io, T& receipt) {
  io("schema", receipt.schema);
  io.must("id", receipt.id);
  io.must("family", receipt.family);
  io("arm", receipt.arm);
  io("plan_digest", receipt.plan_digest);
  io("argv", receipt.argv);
  io("host", receipt.host);
  io("boot_id", receipt.boot_id);
  io("hardware", receipt.hardware);
  io.brief("hosts", receipt.hosts);
  io("cpus", receipt.cpus);
  io("accelerators", receipt.accelerators);
  io("accelerator_kind", receipt.accelerator_kind);
  io("started_ns", receipt.started);
  io.brief("started_monotonic_ns", receipt.started_monotonic);
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
  io.brief("read_calls", receipt.read_calls);
  io.brief("write_calls", receipt.write_calls);
  io.brief("read_bytes", receipt.read_bytes);
  io.brief("write_bytes", receipt.write_bytes);
  io("peak_threads", receipt.peak_threads);
  io("ending", receipt.ending);
  io("code", receipt.code);
  io("reason", receipt.reason);
  io.brief("never_runs", receipt.never_runs);
  io.brief("held_back", receipt.held_back);
  io.brief("source", receipt.source);
  io.brief("environment", receipt.environment);
  io.brief("injected", receipt.injected);
  io("left_behind", receipt.left_behind);
  io("work", receipt.work);
  io("metrics", receipt.metrics);
  io("phases", receipt.phases);
  io.brief("steps", receipt.steps);
  io("report_problems", receipt.report_problems);
  io("utilisation", receipt.utilisation);
  io("outputs", receipt.outputs);
  io("input_fingerprint", receipt.input_fingerprint);
  io("input_bytes", receipt.input_bytes);
  io("noise", receipt.noise);
  io.brief("cgroup", receipt.cgroup);
  io.brief("run_delay_ns", receipt.run_delay);
  io("observer_cpu_ns", receipt.observer_cpu);
  io("stdout_tail", receipt.stdout_tail);
  io("stderr_tail", receipt.stderr_tail);
  io("stdout_sha256", receipt.stdout_sha256);
  io("digest", receipt.digest);
}

template <class Io, Is<ArmFact> T>
constexpr void fields(Io& io, T& arm) {
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
  io.brief("never_runs", arm.never_runs);
}

template <class Io, Is<StepPair> T>
constexpr void fields(Io& io, T& step) {
  io("variant_second", step.variant_second);
  io.must("a", step.a);
  io.must("b", step.b);
}

template <class Io, Is<PairFact> T>
constexpr void fields(Io& io, T& pair) {
  io.must("reservation", pair.reservation);
  io("index", pair.index);
  io("purpose", pair.purpose);
  io("target", pair.target);
  io("variant_second", pair.variant_second);
  io("ran_variant_second", pair.ran_variant_second);
  io.brief("after_shared", pair.after_shared);
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

template <class Io, Is<CanaryRun> T>
constexpr void fields(Io& io, T& run) {
  io("changes", run.changes);
  io("held_back", run.held_back);
  io("slot", run.slot);
}

template <class Io, Is<Usage> T>
constexpr void fields(Io& io, T& usage) {
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
  io.brief("canary", usage.canary);
}

}  // namespace amdahl::model
