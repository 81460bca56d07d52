#include "model/codec.h"

#include "model/codec_io.h"

namespace amdahl::model {

template <class Io, Is<Knob> T>
void fields(Io& io, T& knob) {
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
}

template <class Io, Is<Output> T>
void fields(Io& io, T& output) {
  io.must("path", output.path);
  io("digest", output.digest);
}

template <class Io, Is<Quality> T>
void fields(Io& io, T& quality) {
  io.must("name", quality.name);
  io("tolerance", quality.tolerance);
  io("higher_is_better", quality.higher_is_better);
}

template <class Io, Is<Stratum> T>
void fields(Io& io, T& stratum) {
  io.must("name", stratum.name);
  io("weight", stratum.weight);
  io.brief("env", stratum.env);
  io.brief("args", stratum.args);
}

template <class Io, Is<Spec> T>
void fields(Io& io, T& spec) {
  io.must("family", spec.family);
  io.must("command", spec.command);
  io("workdir", spec.workdir);
  io("env", spec.env);
  io("repo", spec.repo);
  io("build", spec.build);
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
void fields(Io& io, T& plan) {
  io.must("argv", plan.argv);
  io.brief("env", plan.env);
  io.brief("unset", plan.unset);
  io("workdir", plan.workdir);
  io("accelerators", plan.accelerators);
  io("cpus", plan.cpus);
  io.brief("config", plan.config);
  io.brief("patch", plan.patch);
  io.brief("needs_build", plan.needs_build);
}

template Json encode(const Change&);
template Result<Change> decode(const Json&);
template Result<Change> decode_text(std::string_view);
template Json encode(const Spec&);
template Result<Spec> decode(const Json&);
template Result<Spec> decode_text(std::string_view);
template Json encode(const Plan&);
template Result<Plan> decode(const Json&);
template Result<Plan> decode_text(std::string_view);

}  // namespace amdahl::model
