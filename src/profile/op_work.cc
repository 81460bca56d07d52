#include "profile/op_work.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "base/text.h"

namespace amdahl::profile {
namespace {

using model::HostEvent;
using model::kNone;

using Dims = std::vector<double>;

// As in model::HostEvent::inputs.
struct Inputs {
  std::vector<Dims> dims;                  // Of each input; a scalar or a list has none.
  std::vector<std::string_view> types;     // "c10::BFloat16".
  std::vector<std::string_view> concrete;  // Values of what is no tensor: "[2, 2]", "False".
};

double number_in(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::isfinite(value) ? std::clamp(value, 0.0, 1e15) : 0;
}

Dims list_of(std::string_view text) {
  Dims list;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view one = trim(part);
    if (!one.empty()) list.push_back(number_in(one));
  }
  return list;
}

// "[[2, 3], [], [[1], [2]]]"; what is nested deeper is a list of tensors.
std::vector<Dims> dims_of(std::string_view text) {
  std::vector<Dims> all;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' && ++depth == 2) begin = i + 1;
    if (text[i] != ']' || depth-- != 2) continue;
    const std::string_view inside = text.substr(begin, i - begin);
    all.push_back(contains(inside, "[") ? Dims{} : list_of(inside));
  }
  return all;
}

std::vector<std::string_view> strings_of(std::string_view text) {
  std::vector<std::string_view> all;
  for (std::size_t at = text.find('"'); at != text.npos; at = text.find('"', at)) {
    const std::size_t end = text.find('"', at + 1);
    if (end == text.npos) break;
    all.push_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return all;
}

Inputs parse(std::string_view text) {
  const std::size_t types = std::min(text.find('|'), text.size());
  const std::size_t concrete = std::min(text.find('|', types + 1), text.size());
  return {dims_of(text.substr(0, types)), strings_of(text.substr(types, concrete - types)),
          strings_of(text.substr(concrete))};
}

struct ElementType {
  std::string_view name;
  double bytes;
  Precision precision;
};

constexpr auto kTypes = std::to_array<ElementType>({
    {"float", 4, Precision::kSingle},
    {"c10::Half", 2, Precision::kHalf},
    {"c10::BFloat16", 2, Precision::kHalf},
    {"double", 8, Precision::kDouble},
    {"long int", 8, Precision::kSingle},
    {"int", 4, Precision::kSingle},
    {"signed char", 1, Precision::kEighth},
    {"unsigned char", 1, Precision::kEighth},
    {"bool", 1, Precision::kEighth},
});

const ElementType* type_of(const Inputs& in, std::size_t i) {
  static constexpr ElementType kFloat8{"c10::Float8", 1, Precision::kEighth};
  if (i >= in.types.size()) return nullptr;
  if (in.types[i].starts_with(kFloat8.name)) return &kFloat8;
  const auto row = std::ranges::find(kTypes, in.types[i], &ElementType::name);
  return row == kTypes.end() ? nullptr : &*row;
}

double count(const Dims& dims) {
  double product = 1;
  for (const double one : dims) product *= one;
  return product;
}

enum class Does : std::uint8_t {
  kProduct,
  kLinear,
  kConvolve,
  kConvolveBack,
  kAttend,
  kAttendBack
};

constexpr std::size_t kNot = 99;  // The operator has no such argument.

// Positions of its arguments.
struct OpRow {
  std::string_view name;
  Does does;
  std::size_t first = 0;   // Left matrix, input or query.
  std::size_t second = 1;  // Right matrix, weight or key.
  // Convolutions: stride, padding and dilation; backward: the gradient of the output in `stride`
  // and the mask of what is wanted in `flag`. Attention: whether it is causal in `flag`.
  std::size_t stride = kNot;
  std::size_t padding = kNot;
  std::size_t dilation = kNot;
  std::size_t flag = kNot;
  bool has_heads_last = false;
};

constexpr auto kOps = std::to_array<OpRow>({
    {"aten::mm", Does::kProduct},
    {"aten::addmm", Does::kProduct, 1, 2},
    {"aten::bmm", Does::kProduct},
    {"aten::baddbmm", Does::kProduct, 1, 2},
    {"aten::addmv", Does::kProduct, 1, 2},
    {"aten::mv", Does::kProduct},
    {"aten::_int_mm", Does::kProduct},
    {"aten::_scaled_mm", Does::kProduct},
    {"aten::linear", Does::kLinear},
    {"aten::cudnn_convolution", Does::kConvolve, 0, 1, 3, 2, 4},
    {"aten::miopen_convolution", Does::kConvolve, 0, 1, 4, 3, 5},
    {"aten::convolution", Does::kConvolve, 0, 1, 3, 4, 5, 6},
    {"aten::_convolution", Does::kConvolve, 0, 1, 3, 4, 5, 6},
    {"aten::convolution_backward", Does::kConvolveBack, 1, 2, 0, kNot, kNot, 10},
    {"aten::cudnn_convolution_backward", Does::kConvolveBack, 0, 2, 1, kNot, kNot, 9},
    {"aten::miopen_convolution_backward", Does::kConvolveBack, 0, 2, 1, kNot, kNot, 9},
    {"aten::_scaled_dot_product_flash_attention", Does::kAttend, 0, 1, kNot, kNot, kNot, 4},
    {"aten::_scaled_dot_product_efficient_attention", Does::kAttend, 0, 1, kNot, kNot, kNot, 6},
    {"aten::_scaled_dot_product_cudnn_attention", Does::kAttend, 0, 1, kNot, kNot, kNot, 6},
    {"aten::_scaled_dot_product_flash_attention_backward", Does::kAttendBack, 1, 2, kNot, kNot,
     kNot, 11},
    {"aten::_scaled_dot_product_efficient_attention_backward", Does::kAttendBack, 1, 2, kNot, kNot,
     kNot, 11},
    {"aten::_scaled_dot_product_cudnn_attention_backward", Does::kAttendBack, 1, 2, kNot, kNot,
     kNot, 14},
    {"flash_attn::_flash_attn_forward", Does::kAttend, 0, 1, kNot, kNot, kNot, 5, true},
    {"flash_attn::_flash_attn_backward", Does::kAttendBack, 1, 2, kNot, kNot, kNot, 11, true},
});

// Output sizes of convolutions by input and weight; empty where two differ.
using Outputs = std::map<std::pair<Dims, Dims>, Dims>;

class Estimate {
 public:
  Estimate(const Inputs& in, const Outputs& outputs) : in_(in), outputs_(outputs) {}

  std::optional<OpWork> of(const OpRow& op) {
    switch (op.does) {
      case Does::kProduct:
        return product(dims(op.first), dims(op.second), op.first);
      case Does::kLinear:
        return linear(op);
      case Does::kConvolve:
        return convolve(op);
      case Does::kConvolveBack:
        return convolve_back(op);
      case Does::kAttend:
      case Does::kAttendBack:
        return attend(op);
    }
    return std::nullopt;
  }

  // What Inductor made: every tensor once; of a template, the product of its first two.
  std::optional<OpWork> compiled(std::string_view op) {
    OpWork work;
    for (std::size_t i = 0; i < in_.dims.size(); ++i) {
      const ElementType* type = type_of(in_, i);
      if (in_.dims[i].empty() || type == nullptr) continue;
      work.bytes += count(in_.dims[i]) * type->bytes;
    }
    if (op.starts_with("triton_tem") || op.starts_with("triton_mm")) {
      const auto made = product(dims(0), dims(1), 0);
      const bool fits = made && dims(2).size() >= 2 && dims(2)[dims(2).size() - 1] == columns_;
      if (fits) return made;
    }
    if (work.bytes <= 0) return std::nullopt;
    return work;
  }

 private:
  const Dims& dims(std::size_t i) const {
    static const Dims none;
    return i < in_.dims.size() ? in_.dims[i] : none;
  }
  std::string_view concrete(std::size_t i) const {
    return i < in_.concrete.size() ? in_.concrete[i] : std::string_view();
  }

  OpWork made(double flops, double elements, std::size_t typed) const {
    OpWork work;
    work.flops = flops;
    if (const ElementType* type = type_of(in_, typed)) {
      work.bytes = elements * type->bytes;
      work.precision = type->precision;
      work.is_precision_known = true;
    }
    return work;
  }

  // [..., rows, inner] by [..., inner, columns], or by a vector.
  std::optional<OpWork> product(const Dims& left, const Dims& right, std::size_t typed) {
    if (left.size() < 2 || right.empty()) return std::nullopt;
    const double inner = left.back();
    const bool is_vector = right.size() == 1;
    if ((is_vector ? right[0] : right[right.size() - 2]) != inner || inner <= 0) {
      return std::nullopt;
    }
    columns_ = is_vector ? 1 : right.back();
    const double rows = count(left) / inner;
    return made(2 * rows * inner * columns_, count(left) + count(right) + rows * columns_, typed);
  }

  std::optional<OpWork> linear(const OpRow& op) {
    const Dims& weight = dims(op.second);
    if (weight.size() != 2) return std::nullopt;
    return product(dims(op.first), {weight[1], weight[0]}, op.first);
  }

  // FLOPs of one pass over an output, and elements of input, weight and output.
  std::optional<OpWork> pass(const OpRow& op, const Dims& output) const {
    const Dims& input = dims(op.first);
    const Dims& weight = dims(op.second);
    const bool fits = output.size() >= 3 && output.size() == weight.size() &&
                      output.size() == input.size() && output[1] == weight[0];
    if (!fits) return std::nullopt;
    OpWork work = made(2 * count(output) * count(weight) / weight[0],
                       count(input) + count(weight) + count(output), op.first);
    work.saves = 4;
    return work;
  }

  std::optional<OpWork> convolve(const OpRow& op) const {
    if (concrete(op.flag) == "True") return std::nullopt;  // Transposed.
    const Dims& input = dims(op.first);
    const Dims& weight = dims(op.second);
    const Dims stride = list_in(op.stride);
    const Dims padding = list_in(op.padding);
    const Dims dilation = list_in(op.dilation);
    if (stride.empty() || padding.empty()) {
      const auto known = outputs_.find({input, weight});
      return known == outputs_.end() ? std::nullopt : pass(op, known->second);
    }
    if (input.size() < 3 || input.size() != weight.size()) return std::nullopt;
    const auto at = [](const Dims& list, std::size_t i, double otherwise) {
      if (list.empty()) return otherwise;
      return list[std::min(i, list.size() - 1)];
    };
    Dims output{input[0], weight[0]};
    for (std::size_t i = 2; i < input.size(); ++i) {
      const double reach = at(dilation, i - 2, 1) * (weight[i] - 1) + 1;
      const double room = input[i] + 2 * at(padding, i - 2, 0) - reach;
      output.push_back(std::floor(std::max(0.0, room) / std::max(1.0, at(stride, i - 2, 1))) + 1);
    }
    return pass(op, output);
  }

  // Towards input and weight, unless the mask says that one is not wanted.
  std::optional<OpWork> convolve_back(const OpRow& op) const {
    auto work = pass(op, dims(op.stride));
    if (!work) return std::nullopt;
    const Dims wanted = mask_in(op.flag);
    const double passes = wanted.size() >= 2 ? wanted[0] + wanted[1] : 2;
    work->flops *= passes;
    work->bytes *= passes;
    if (passes <= 0) return std::nullopt;
    return work;
  }

  // Two products forward, five backward; half of them if the mask is causal.
  std::optional<OpWork> attend(const OpRow& op) const {
    const Dims& query = dims(op.first);
    const Dims& key = dims(op.second);
    const std::string_view causal = concrete(op.flag);
    if (query.size() != 4 || key.size() != 4 || causal.empty()) return std::nullopt;
    const std::size_t length = op.has_heads_last ? 1 : 2;
    const bool is_back = op.does == Does::kAttendBack;
    const double pairs = count(query) * key[length] * (causal == "True" ? 0.5 : 1);
    return made((is_back ? 10 : 4) * pairs, (is_back ? 4 : 2) * (count(query) + count(key)),
                op.first);
  }

  // "[2, 2]" of what is no tensor.
  Dims list_in(std::size_t i) const {
    std::string_view text = concrete(i);
    if (!text.starts_with('[') || !text.ends_with(']')) return {};
    return list_of(text.substr(1, text.size() - 2));
  }
  Dims mask_in(std::size_t i) const {
    Dims mask;
    std::string_view text = concrete(i);
    if (!text.starts_with('[')) return mask;
    for (const std::string_view one : split(text, ',')) mask.push_back(contains(one, "True"));
    return mask;
  }

  const Inputs& in_;
  const Outputs& outputs_;
  double columns_ = 0;  // Of the last product.
};

const OpRow* row_of(std::string_view op) {
  const auto row = std::ranges::find(kOps, op, &OpRow::name);
  return row == kOps.end() ? nullptr : &*row;
}

void learn(Outputs& outputs, const OpRow& op, const Inputs& in) {
  const std::size_t needs = std::max({op.first, op.second, op.stride});
  if (op.does != Does::kConvolveBack || needs >= in.dims.size()) return;
  const auto [known, added] =
      outputs.try_emplace({in.dims[op.first], in.dims[op.second]}, in.dims[op.stride]);
  if (!added && known->second != in.dims[op.stride]) known->second.clear();
}

// Calls `of` with every operator around a launch, innermost first, until it returns true. What
// calls operators from Python is not asked.
template <class Of>
void for_ops_around(const model::Trace& trace, std::uint32_t launch, const Of& of) {
  if (launch == kNone) return;
  for (std::uint32_t i = trace.host_events[launch].parent; i != kNone;) {
    const HostEvent& event = trace.host_events[i];
    if (event.kind == model::HostKind::kPython) return;
    if (event.inputs != 0 && of(i)) return;
    i = event.parent;
  }
}

// Without what NVTX ranges say behind it: "aten::mm, op_id = 7".
std::string_view op_name(std::string_view name) { return name.substr(0, name.find(", ")); }

}  // namespace

std::vector<std::vector<double>> input_dims(std::string_view inputs) {
  return dims_of(inputs.substr(0, inputs.find('|')));
}

OpWorks::OpWorks(const model::Trace& trace) : trace_{trace} {
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const HostEvent& event : trace.host_events) {
    if (event.inputs != 0) seen.emplace(event.name, event.inputs);
  }
  Outputs outputs;
  for (const auto& [name, inputs] : seen) {
    const OpRow* row = row_of(op_name(trace.names[name]));
    if (row != nullptr && row->does == Does::kConvolveBack) {
      learn(outputs, *row, parse(trace.names[inputs]));
    }
  }
  for (const auto& key : seen) {
    const std::string_view op = op_name(trace.names[key.first]);
    const Inputs in = parse(trace.names[key.second]);
    const OpRow* row = row_of(op);
    Estimate estimate(in, outputs);
    std::optional<OpWork> work;
    if (row != nullptr) work = estimate.of(*row);
    if (op.starts_with("triton_")) work = estimate.compiled(op);
    if (work) works_.emplace(key, *work);
  }
}

std::optional<OpWorks::Around> OpWorks::around(std::uint32_t launch) const {
  std::optional<Around> found;
  for_ops_around(trace_, launch, [&](std::uint32_t i) {
    const HostEvent& event = trace_.host_events[i];
    const auto work = works_.find({event.name, event.inputs});
    if (work != works_.end()) found = Around{i, &work->second};
    return found.has_value();
  });
  return found;
}

namespace {

// A collective over symmetric memory says what it is given, but not to whom it goes: all ranks of
// the job.
CollectiveInputs symmetric(const model::Trace& trace, const HostEvent& event,
                           const std::vector<std::string_view>& parts) {
  CollectiveInputs found;
  const auto dims = input_dims(trace.names[event.inputs]);
  if (dims.empty() || dims.front().empty() || parts.size() < 2) return found;
  double elements = 1;
  for (const double size : dims.front()) elements *= size;
  found.elements = static_cast<std::uint64_t>(std::clamp(elements, 0.0, 1e15));
  const std::string_view type = parts[1].substr(0, parts[1].find(','));
  constexpr std::string_view kLibrary = "c10::";
  const std::size_t at = type.find(kLibrary);
  const std::string_view rest = at == type.npos ? type : type.substr(at + kLibrary.size());
  found.element_type = rest.substr(0, rest.find('"'));
  const std::uint32_t process = trace.threads[event.thread].process;
  const std::int32_t world = trace.sources[trace.processes[process].source].world_size;
  found.group_size = static_cast<std::uint32_t>(std::max(world, 0));
  return found;
}

}  // namespace

CollectiveInputs collective_around(const model::Trace& trace, std::uint32_t launch) {
  CollectiveInputs found;
  for_ops_around(trace, launch, [&](std::uint32_t i) {
    const HostEvent& event = trace.host_events[i];
    constexpr std::string_view kSymmetric = "symm_mem::";
    const std::string_view name = trace.name(event);
    const std::vector<std::string_view> parts = split(trace.names[event.inputs], '|');
    if (name.starts_with(kSymmetric)) {
      found = symmetric(trace, event, parts);
      found.name = name.substr(kSymmetric.size());
      return true;
    }
    if (name != "record_param_comms") return false;
    if (parts.size() < 4) return false;
    found.name = parts[0];
    found.element_type = parts[1];
    found.elements = static_cast<std::uint64_t>(std::max(0.0, number_in(parts[2])));
    found.group_size = static_cast<std::uint32_t>(std::clamp(number_in(parts[3]), 0.0, 1e9));
    return true;
  });
  return found;
}

}  // namespace amdahl::profile
