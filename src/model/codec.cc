#include "model/codec.h"

#include "model/codec_fields.h"

namespace amdahl::model {

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
