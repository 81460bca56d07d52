// piece_parser.h: pieces of JSON into windows, with what the processor can do.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/kineto/frame.h"
#include "trace/kineto/window.h"

namespace amdahl::trace::kineto {

// How one instruction set parses: a list of events, and one event by itself. `json` has kPadding
// bytes behind it, `offset` is the place of its first byte in the stream. False if it is no JSON;
// then the window may hold a part of it.
struct PieceParser {
  bool (*list)(std::string_view json, std::uint64_t offset, Window& window);
  bool (*one)(std::string_view json, std::uint64_t offset, Window& window);
};

bool parse_list_baseline(std::string_view json, std::uint64_t offset, Window& window);
bool parse_one_baseline(std::string_view json, std::uint64_t offset, Window& window);
bool parse_list_avx2(std::string_view json, std::uint64_t offset, Window& window);
bool parse_one_avx2(std::string_view json, std::uint64_t offset, Window& window);

inline constexpr PieceParser kBaselineParser = {parse_list_baseline, parse_one_baseline};
inline constexpr PieceParser kAvx2Parser = {parse_list_avx2, parse_one_avx2};

// The fastest that this processor can run.
const PieceParser& best_parser();

// All events of a piece; what is no event is counted. Changes the piece's bytes.
Window parse_piece(Piece& piece, const PieceParser& parser);

}  // namespace amdahl::trace::kineto
