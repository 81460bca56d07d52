// piece_parser.h: parses pieces of JSON into windows, with the CPU's best instruction set.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/kineto/frame.h"
#include "trace/kineto/window.h"

namespace amdahl::trace::kineto {

// Parser for one instruction set: a list of events, or a single event. `json` is followed by
// kPadding bytes; `offset` is its position in the stream. False if it is not JSON; then the window
// may hold a part of it.
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

// The fastest one that this CPU supports.
const PieceParser& best_parser();

// Parses all events of a piece; counts what is not an event. Modifies the piece's bytes.
Window parse_piece(Piece& piece, const PieceParser& parser);

}  // namespace amdahl::trace::kineto
