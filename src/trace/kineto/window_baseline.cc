#include "trace/kineto/piece_parser.h"
#include "trace/kineto/window_parser.h"

namespace amdahl::trace::kineto {
namespace {

struct Baseline;

thread_local WindowParser<Baseline> parser;

}  // namespace

bool parse_list_baseline(std::string_view json, std::uint64_t offset, Window& window) {
  return parser.parse_list(json, offset, window);
}

bool parse_one_baseline(std::string_view json, std::uint64_t offset, Window& window) {
  return parser.parse_one(json, offset, window);
}

}  // namespace amdahl::trace::kineto
