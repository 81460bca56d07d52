#include "code/tree.h"

#include <fmt/format.h>

extern "C" {
const TSLanguage* tree_sitter_python();
const TSLanguage* tree_sitter_cpp();
}

namespace amdahl::code {
namespace {

struct CloseParser {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};
using Parser = std::unique_ptr<TSParser, CloseParser>;

// Closes itself: a walk may end anywhere.
struct Cursor {
  explicit Cursor(TSNode root) : at(ts_tree_cursor_new(root)) {}
  ~Cursor() { ts_tree_cursor_delete(&at); }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  TSTreeCursor at;
};

}  // namespace

Result<Tree> parse(Language language, std::string_view bytes) {
  if (bytes.size() > kMostBytes) {
    return bad_input(fmt::format("{} bytes of source; files over {} bytes are not analysed",
                                 bytes.size(), kMostBytes));
  }
  const Parser parser(ts_parser_new());
  const bool known = ts_parser_set_language(
      parser.get(), language == Language::kPython ? tree_sitter_python() : tree_sitter_cpp());
  CHECK(known);  // The grammars' versions are pinned in grammars/package.json.
  ts_parser_set_timeout_micros(parser.get(), kMostMicroseconds);
  Tree tree(ts_parser_parse_string(parser.get(), nullptr, bytes.data(),
                                   static_cast<std::uint32_t>(bytes.size())));
  if (!tree) {
    return bad_input(fmt::format("could not be parsed as {} within {} s", name(language),
                                 kMostMicroseconds / 1'000'000));
  }
  return tree;
}

Range range_of(TSNode node) {
  const TSPoint start = ts_node_start_point(node);
  Range range;
  range.begin = ts_node_start_byte(node);
  range.end = ts_node_end_byte(node);
  range.line = static_cast<int>(start.row) + 1;
  range.end_line = static_cast<int>(ts_node_end_point(node).row) + 1;
  range.column = static_cast<int>(start.column) + 1;
  return range;
}

std::string_view text_of(TSNode node, std::string_view bytes) {
  if (ts_node_is_null(node)) return {};
  const std::size_t begin = ts_node_start_byte(node);
  const std::size_t end = ts_node_end_byte(node);
  if (begin >= end || end > bytes.size()) return {};
  return bytes.substr(begin, end - begin);
}

std::string_view type_of(TSNode node) {
  return ts_node_is_null(node) ? std::string_view{} : ts_node_type(node);
}

TSNode child(TSNode node, std::string_view field) {
  return ts_node_child_by_field_name(node, field.data(), static_cast<std::uint32_t>(field.size()));
}

void walk(TSNode root, const std::function<void(TSNode, std::string_view)>& enter,
          const std::function<void(TSNode)>& leave) {
  Cursor cursor(root);
  while (true) {
    const char* field = ts_tree_cursor_current_field_name(&cursor.at);
    enter(ts_tree_cursor_current_node(&cursor.at), field == nullptr ? "" : field);
    if (ts_tree_cursor_goto_first_child(&cursor.at)) continue;
    leave(ts_tree_cursor_current_node(&cursor.at));
    while (!ts_tree_cursor_goto_next_sibling(&cursor.at)) {
      if (!ts_tree_cursor_goto_parent(&cursor.at)) return;
      leave(ts_tree_cursor_current_node(&cursor.at));
    }
  }
}

}  // namespace amdahl::code
