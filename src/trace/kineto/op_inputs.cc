#include "trace/kineto/op_inputs.h"

#include <array>

#include "base/text.h"

namespace amdahl::trace::kineto {
namespace {

// The value of a key as written; a string without its quotes. Empty if the key is missing.
std::string_view value_in(std::string_view args, std::string_view key) {
  const std::size_t at = args.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view rest = args.substr(at + key.size());
  const std::size_t begin = rest.find_first_not_of(": ");
  if (begin == std::string_view::npos) return {};
  rest = rest.substr(begin);
  if (rest.front() == '"') return rest.substr(1, rest.find('"', 1) - 1);
  if (rest.front() != '[') return rest.substr(0, rest.find_first_of(",} "));
  int depth = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '[') ++depth;
    if (rest[i] == ']' && --depth == 0) return rest.substr(0, i + 1);
  }
  return {};
}

constexpr auto kOfOperator =
    std::to_array<std::string_view>({"\"Input type\"", "\"Concrete Inputs\""});
constexpr auto kOfCollective = std::to_array<std::string_view>(
    {"\"dtype\"", "\"In msg nelems\"", "\"Group size\"", "\"Process Group Name\""});

}  // namespace

bool keeps_inputs(std::string_view op) {
  if (op.ends_with("mm") || op.ends_with("mv") || op.starts_with("triton_")) return true;
  return contains(op, "conv") || contains(op, "att") || op == "record_param_comms" ||
         op == "aten::linear" || op.starts_with("symm_mem::");
}

std::string_view inputs_of_args(std::string_view args, std::string& room) {
  const auto join = [&](std::string_view first, const auto& keys) {
    room = first;
    for (const std::string_view key : keys) room.append("|").append(value_in(args, key));
    return std::string_view(room);
  };
  const std::string_view collective = value_in(args, "\"Collective name\"");
  if (!collective.empty()) return join(collective, kOfCollective);
  std::string_view dims = value_in(args, "\"Input Dims\"");
  if (dims.empty()) dims = value_in(args, "\"Input dims\"");
  return dims.empty() ? std::string_view() : join(dims, kOfOperator);
}

}  // namespace amdahl::trace::kineto
