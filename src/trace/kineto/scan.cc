#include "trace/kineto/scan.h"

#include <bit>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace amdahl::trace::kineto {
namespace {

constexpr std::size_t kBlock = 64;

// One bit a byte, of a block of 64.
struct Masks {
  std::uint64_t quote = 0;
  std::uint64_t backslash = 0;
  std::uint64_t open = 0;
  std::uint64_t close = 0;
};

#if defined(__SSE2__)

std::uint64_t bits(__m128i equal, int part) {
  return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(equal))} << (16 * part);
}

Masks masks_of(const char* bytes) {
  Masks masks;
  for (int part = 0; part < 4; ++part) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * part));
    // [ and { differ in one bit, as do ] and }: set it, and two comparisons find all four.
    const __m128i folded = _mm_or_si128(text, _mm_set1_epi8(0x20));
    masks.quote |= bits(_mm_cmpeq_epi8(text, _mm_set1_epi8('"')), part);
    masks.backslash |= bits(_mm_cmpeq_epi8(text, _mm_set1_epi8('\\')), part);
    masks.open |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')), part);
    masks.close |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}')), part);
  }
  return masks;
}

#else

Masks masks_of(const char* bytes) {
  Masks masks;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const char c = bytes[i];
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (c == '"') masks.quote |= bit;
    if (c == '\\') masks.backslash |= bit;
    if (c == '{' || c == '[') masks.open |= bit;
    if (c == '}' || c == ']') masks.close |= bit;
  }
  return masks;
}

#endif

// Bytes that a backslash before them takes with it.
std::uint64_t escaped_bits(std::uint64_t backslash, bool& escaped) {
  std::uint64_t taken = escaped ? 1 : 0;
  escaped = false;
  backslash &= ~taken;
  while (backslash != 0) {
    const int at = std::countr_zero(backslash);
    if (at == 63) {
      escaped = true;
      break;
    }
    const std::uint64_t next = std::uint64_t{2} << at;
    taken |= next;
    backslash &= ~(next | (next - 1));
  }
  return taken;
}

// Bit i is the parity of the bits 0 to i: inside a string between its quotes.
std::uint64_t parity(std::uint64_t bits) {
  for (int by = 1; by < 64; by *= 2) bits ^= bits << by;
  return bits;
}

// Goes through the brackets of one block in order; true if the list ended.
bool step(std::uint64_t open, std::uint64_t close, std::size_t at, std::int64_t level,
          std::int64_t& depth, Scanned& scanned) {
  for (std::uint64_t both = open | close; both != 0; both &= both - 1) {
    const int bit = std::countr_zero(both);
    if ((open >> bit & 1) != 0) {
      ++depth;
      continue;
    }
    --depth;
    const std::size_t place = at + static_cast<std::size_t>(bit);
    if (depth == level) scanned.after_last = place + 1;
    if (depth >= level) continue;
    scanned.list_ended = true;
    scanned.stopped = place;
    return true;
  }
  return false;
}

}  // namespace

Scanned scan_events_slowly(const char* bytes, std::size_t from, std::size_t to, std::int64_t level,
                           Nesting& nesting) {
  Scanned scanned;
  for (std::size_t at = from; at < to; ++at) {
    const char c = bytes[at];
    if (nesting.escaped) {
      nesting.escaped = false;
    } else if (c == '\\') {
      nesting.escaped = true;
    } else if (c == '"') {
      nesting.in_string = !nesting.in_string;
    } else if (!nesting.in_string) {
      const bool open = c == '{' || c == '[';
      const bool close = c == '}' || c == ']';
      if (step(open ? 1 : 0, close ? 1 : 0, at, level, nesting.depth, scanned)) return scanned;
    }
  }
  scanned.stopped = to;
  return scanned;
}

Scanned scan_events(const char* bytes, std::size_t from, std::size_t to, std::int64_t level,
                    Nesting& nesting) {
  Scanned scanned;
  std::size_t at = from;
  for (; to - at >= kBlock; at += kBlock) {
    const Masks masks = masks_of(bytes + at);
    const std::uint64_t escaped = escaped_bits(masks.backslash, nesting.escaped);
    const std::uint64_t inside =
        parity(masks.quote & ~escaped) ^ (nesting.in_string ? ~std::uint64_t{0} : 0);
    nesting.in_string = (inside >> 63) != 0;
    const std::uint64_t open = masks.open & ~inside & ~escaped;
    const std::uint64_t close = masks.close & ~inside & ~escaped;
    if (step(open, close, at, level, nesting.depth, scanned)) {
      nesting.in_string = false;
      nesting.escaped = false;
      return scanned;
    }
  }
  Scanned rest = scan_events_slowly(bytes, at, to, level, nesting);
  if (rest.after_last == 0) rest.after_last = scanned.after_last;
  return rest;
}

}  // namespace amdahl::trace::kineto
