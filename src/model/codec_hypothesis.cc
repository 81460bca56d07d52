#include "model/codec_fields.h"

namespace amdahl::model {

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
