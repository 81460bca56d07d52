// tree.h: parses source text into a syntax tree and walks it without recursion.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include <tree_sitter/api.h>

#include "base/result.h"
#include "code/source.h"

namespace amdahl::code {

// Larger files are generated or not source; they are skipped.
inline constexpr std::size_t kMostBytes = std::size_t{4} << 20U;
// Limit for error recovery, which can be very slow; slower files are skipped.
inline constexpr std::uint64_t kMostMicroseconds = 5'000'000;

struct CloseTree {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};
using Tree = std::unique_ptr<TSTree, CloseTree>;

// Parses any bytes; invalid parts become error nodes. Fails if too large or too slow.
Result<Tree> parse(Language language, std::string_view bytes);

// A position in the source. Lines and columns are 1-based, columns in bytes.
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  int line = 0;
  int end_line = 0;
  int column = 0;
};

Range range_of(TSNode node);
std::string_view text_of(TSNode node, std::string_view bytes);
std::string_view type_of(TSNode node);
TSNode child(TSNode node, std::string_view field);  // Null (ts_node_is_null) if missing.

// Calls `enter` before and `leave` after a node's children, for named and unnamed nodes; `field`
// is the node's field name in its parent, "" if none.
void walk(TSNode root, const std::function<void(TSNode node, std::string_view field)>& enter,
          const std::function<void(TSNode node)>& leave);

}  // namespace amdahl::code
