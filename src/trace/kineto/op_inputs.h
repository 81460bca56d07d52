// op_inputs.h: shapes and types of the inputs of an operator, from its arguments.
#pragma once

#include <string>
#include <string_view>

namespace amdahl::trace::kineto {

// Whether the work of an operator follows from its inputs: products of matrices, convolutions,
// attention, compiled kernels and collectives. What others were given is not kept.
bool keeps_inputs(std::string_view op);

// What model::HostEvent::inputs holds, from the text of "args"; empty if nothing was recorded.
// `room` is reused.
std::string_view inputs_of_args(std::string_view args, std::string& room);

}  // namespace amdahl::trace::kineto
