#include "trace/kineto/piece_parser.h"

#include <cstring>
#include <string>

#include "trace/kineto/marker.h"
#include "trace/kineto/repair.h"

namespace amdahl::trace::kineto {
namespace {

bool has_avx2() {
#if defined(__x86_64__)
#if defined(__clang__)
  const bool lzcnt = true;  // clang 16 cannot query it; CPUs with AVX2 have it.
#else
  const bool lzcnt = __builtin_cpu_supports("lzcnt");
#endif
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("pclmul") && lzcnt;
#else
  return false;
#endif
}

// Salvages a piece that is not valid JSON as a whole, and counts the rest.
class OneByOne {
 public:
  // Events begin with `key`.
  OneByOne(const PieceParser& parser, std::string_view key, Window& window)
      : parser_(parser), key_(key), window_(window) {}

  void parse(std::string_view bytes, std::uint64_t offset) {
    for (const Unit& unit : split_balanced(bytes)) {
      const std::string_view event = bytes.substr(unit.begin, unit.end - unit.begin);
      const bool whole = !holds_others(event) && parse_unit(event, offset + unit.begin);
      if (!whole) parse_broken(event, offset + unit.begin);
    }
  }

 private:
  // An event has one phase.
  bool holds_others(std::string_view event) const {
    if (find_event(event, 1, key_) == std::string_view::npos) return false;
    const std::size_t own = event.find(kUsualKey);
    return own != event.npos && event.find(kUsualKey, own + 1) != event.npos;
  }

  void parse_broken(std::string_view bytes, std::uint64_t offset) {
    for (const Unit& unit : split_at_markers(bytes, key_)) {
      const std::string_view event = bytes.substr(unit.begin, unit.end - unit.begin);
      if (parse_unit(event, offset + unit.begin)) continue;
      window_.lose(model::LossKind::kUnreadable, offset + unit.begin, event);
    }
  }

  bool parse_unit(std::string_view bytes, std::uint64_t offset) {
    const bool changed = clean(bytes, cleaned_);
    const std::string_view json(cleaned_.text.data(), cleaned_.text.size() - kPadding);
    if (!parser_.one(json, offset, window_)) return false;
    if (changed) window_.lose(model::LossKind::kControlCharacter, offset, bytes);
    return true;
  }

  const PieceParser& parser_;
  std::string_view key_;
  Window& window_;
  Cleaned cleaned_;
};

// Whether an event begins inside another one. `offset` is the place of the first byte in the
// stream.
bool holds_events(std::string_view json, std::uint64_t offset, std::string_view key,
                  const Window& window) {
  for (const Window::ByteRange& one : window.long_events) {
    const std::string_view bytes = json.substr(one.begin - offset, one.end - one.begin);
    if (find_event(bytes, 0, key) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

const PieceParser& best_parser() {
  static const bool avx2 = has_avx2();
  return avx2 ? kAvx2Parser : kBaselineParser;
}

Window parse_piece(Piece& piece, const PieceParser& parser) {
  Window window;
  if (piece.begin >= piece.end) return window;
  char* const bytes = piece.buffer.bytes.get();
  // The events become a list by brackets around them.
  const std::string after(bytes + piece.end, kPadding);
  bytes[piece.begin - 1] = '[';
  bytes[piece.end] = ']';
  std::memset(bytes + piece.end + 1, 0, kPadding - 1);
  const std::string_view json(bytes + piece.begin - 1, piece.end - piece.begin + 2);
  const std::uint64_t offset = piece.offset - 1;
  if (parser.list(json, offset, window) && !holds_events(json, offset, piece.key, window)) {
    return window;
  }
  std::memcpy(bytes + piece.end, after.data(), kPadding);
  Window saved;
  OneByOne(parser, piece.key, saved)
      .parse({bytes + piece.begin, piece.end - piece.begin}, piece.offset);
  return saved;
}

}  // namespace amdahl::trace::kineto
