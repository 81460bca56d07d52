// Compiled for processors with AVX2 (see the room's CMakeLists.txt), and called only on those.
#include "trace/kineto/piece_parser.h"
#include "trace/kineto/window_parser.h"

namespace amdahl::trace::kineto {
namespace {

struct Avx2;

thread_local WindowParser<Avx2> parser;

}  // namespace

bool parse_list_avx2(std::string_view json, std::uint64_t offset, Window& window) {
  return parser.parse_list(json, offset, window);
}

bool parse_one_avx2(std::string_view json, std::uint64_t offset, Window& window) {
  return parser.parse_one(json, offset, window);
}

}  // namespace amdahl::trace::kineto
