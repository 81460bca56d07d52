// tree.h: source text as a syntax tree, walked without recursion so that no nesting is too deep.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include <tree_sitter/api.h>

#include "base/result.h"
#include "code/source.h"

namespace amdahl::code {

// More than this is generated or not source at all, and is not looked at.
inline constexpr std::size_t kMostBytes = std::size_t{4} << 20U;
// Recovering from errors can take time out of proportion; a file that takes longer is given up.
inline constexpr std::uint64_t kMostMicroseconds = 5'000'000;

struct CloseTree {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};
using Tree = std::unique_ptr<TSTree, CloseTree>;

// A tree for any bytes: what is not the language becomes error nodes. Fails where it is too large
// or takes too long.
Result<Tree> parse(Language language, std::string_view bytes);

// Where something stands. Lines and columns count from 1, columns in bytes.
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
TSNode child(TSNode node, std::string_view field);  // Null (ts_node_is_null) if there is none.

// Calls `enter` before a node's children and `leave` after them, for named nodes and all others;
// `field` is what the parent calls the node, "" if nothing.
void walk(TSNode root, const std::function<void(TSNode node, std::string_view field)>& enter,
          const std::function<void(TSNode node)>& leave);

}  // namespace amdahl::code
