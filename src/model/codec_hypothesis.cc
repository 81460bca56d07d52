#include "model/codec_io.h"

namespace amdahl::model {

template <class Io, Is<Cause> T>
void fields(Io& io, T& cause) {
  io.must("name", cause.name);
  io("bottleneck", cause.bottleneck);
  io("accelerator_seconds", cause.accelerator_seconds);
  io("share", cause.share);
  io("ceiling", cause.ceiling);
  io("because", cause.because);
}

template <class Io, Is<Profile> T>
void fields(Io& io, T& profile) {
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
void fields(Io& io, T& origin) {
  io("kind", origin.kind);
  io("ref", origin.ref);
}

template <class Io, Is<Hypothesis> T>
void fields(Io& io, T& hypothesis) {
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
  io.brief("dose", hypothesis.dose);
  io.brief("dose_value", hypothesis.dose_value);
}

template <class Io, Is<Experiment> T>
void fields(Io& io, T& experiment) {
  io.must("id", experiment.id);
  io.must("hypothesis", experiment.hypothesis);
  io.must("family", experiment.family);
  io("campaign", experiment.campaign);
  io("metric", experiment.metric);
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
void fields(Io& io, T& comparison) {
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
void fields(Io& io, T& finding) {
  io.must("check", finding.check);
  io.must("vote", finding.vote);
  io("decisive", finding.decisive);
  io("mandatory", finding.mandatory);
  io("because", finding.because);
}

template <class Io, Is<Verdict> T>
void fields(Io& io, T& verdict) {
  io.must("hypothesis", verdict.hypothesis);
  io("experiment", verdict.experiment);
  io.must("kind", verdict.kind);
  io("reason", verdict.reason);
  io("comparison", verdict.comparison);
  io("at_ns", verdict.at);
}

template <class Io, Is<GatePacket> T>
void fields(Io& io, T& packet) {
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
void fields(Io& io, T& decision) {
  io.must("approved", decision.approved);
  io.must("actor", decision.actor);
  io("reason", decision.reason);
}

template <class Io, Is<StackResult> T>
void fields(Io& io, T& stack) {
  io.must("family", stack.family);
  io("changes", stack.changes);
  io("comparison", stack.comparison);
  io("original_cost", stack.original_cost);
  io("stack_cost", stack.stack_cost);
  io("work_unit", stack.work_unit);
  io("at_ns", stack.at);
}

template Json encode(const Profile&);
template Result<Profile> decode(const Json&);
template Result<Profile> decode_text(std::string_view);
template Json encode(const Hypothesis&);
template Result<Hypothesis> decode(const Json&);
template Result<Hypothesis> decode_text(std::string_view);
template Json encode(const Experiment&);
template Result<Experiment> decode(const Json&);
template Result<Experiment> decode_text(std::string_view);
template Json encode(const Comparison&);
template Result<Comparison> decode(const Json&);
template Result<Comparison> decode_text(std::string_view);
template Json encode(const Finding&);
template Result<Finding> decode(const Json&);
template Result<Finding> decode_text(std::string_view);
template Json encode(const Verdict&);
template Result<Verdict> decode(const Json&);
template Result<Verdict> decode_text(std::string_view);
template Json encode(const GatePacket&);
template Result<GatePacket> decode(const Json&);
template Result<GatePacket> decode_text(std::string_view);
template Json encode(const GateDecision&);
template Result<GateDecision> decode(const Json&);
template Result<GateDecision> decode_text(std::string_view);
template Json encode(const StackResult&);
template Result<StackResult> decode(const Json&);
template Result<StackResult> decode_text(std::string_view);

}  // namespace amdahl::model
