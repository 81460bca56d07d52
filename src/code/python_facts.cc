// What a Python tree means for the rules.
#include <string_view>
#include <utility>
#include <vector>

#include "code/collector.h"
#include "code/facts.h"

namespace amdahl::code {
namespace {

class Python {
 public:
  explicit Python(std::string_view bytes) : all_(Language::kPython, bytes) {}

  void enter(TSNode node, std::string_view field) {
    if (ts_node_is_named(node)) enter_named(node, type_of(node));
    // A `for` evaluates its iterable once: only its body is in the loop.
    if (!bodies_.empty() && bodies_.back().first == node.id) {
      all_.open_loop(node, bodies_.back().second);
      bodies_.pop_back();
    }
    if (field == "condition") all_.open_condition(node);
  }

  void leave(TSNode node) {
    if (!blocks_.empty() && blocks_.back().first == node.id) blocks_.pop_back();
    all_.leave(node);
  }
  Facts take() { return std::move(all_.facts); }

 private:
  void enter_named(TSNode node, std::string_view type) {
    if (type == "identifier") {
      if (!all_.in_import()) all_.facts.used.insert(all_.text(node));
    } else if (type == "attribute") {
      if (!all_.in_import()) all_.facts.dotted.insert(all_.text(node));
    } else if (type == "call") {
      enter_call(node);
    } else if (type == "function_definition") {
      all_.open_function(node, all_.text(child(node, "name")));
    } else if (type == "class_definition") {
      all_.open_class(node, all_.text(child(node, "name")));
    } else if (type == "decorator" || type == "with_item") {
      all_.add(SiteKind::kContext, node).callee = all_.text(node);
    } else if (type == "assignment") {
      enter_assignment(node);
    } else if (type == "assert_statement") {
      all_.open_condition(node);
    } else if (type == "block" || type == "module") {
      blocks_.emplace_back(node.id, ts_node_named_child_count(node));
    } else if (type.starts_with("import_")) {
      enter_import(node, type);
    } else {
      enter_loop(node, type);
    }
    if (type.ends_with("_statement")) {
      all_.open_statement(node, !blocks_.empty() && blocks_.back().second == 1);
    }
  }

  void enter_loop(TSNode node, std::string_view type) {
    if (type == "for_statement") {
      add_body(node, all_.add_loop(node, all_.text(child(node, "right"))));
    } else if (type == "while_statement") {
      all_.open_loop(node, all_.add_loop(node, all_.text(child(node, "condition"))));
    } else if (type.ends_with("_comprehension") || type == "generator_expression") {
      add_body(node, all_.add_loop(node, {}));
    }
  }

  void add_body(TSNode node, int loop) {
    const TSNode body = child(node, "body");
    if (body.id != nullptr) bodies_.emplace_back(body.id, loop);
  }

  void enter_call(TSNode node) {
    const TSNode function = child(node, "function");
    Site& site = all_.add(SiteKind::kCall, node);
    site.callee = all_.text(function);
    site.name = site.callee;
    if (type_of(function) == "attribute") {
      site.name = all_.text(child(function, "attribute"));
      site.receiver = all_.text(child(function, "object"));
    }
    const TSNode list = child(node, "arguments");
    if (type_of(list) == "argument_list") all_.take_arguments(site, list);
    if (site.name == "no_grad" || site.name == "inference_mode") {
      all_.facts.grad_switches.insert(site.arguments.empty() ? std::string_view{}
                                                             : site.arguments.front().text);
    }
  }

  void enter_assignment(TSNode node) {
    const TSNode left = child(node, "left");
    Site& site = all_.add(SiteKind::kAssign, node);
    site.callee = all_.text(left);
    site.name = site.callee;
    const TSNode right = child(node, "right");
    if (!ts_node_is_null(right)) site.arguments.push_back({{}, all_.text(right), range_of(right)});
  }

  // `import a.b as c` binds c, `import a.b` binds a, `from a import b` binds b.
  void enter_import(TSNode node, std::string_view type) {
    all_.open_import(node);
    const TSNode from = type == "import_from_statement" ? child(node, "module_name") : TSNode{};
    const std::uint32_t count = ts_node_named_child_count(node);
    for (std::uint32_t i = 0; i < count && i < kMostImports; ++i) {
      TSNode item = ts_node_named_child(node, i);
      if (from.id != nullptr && ts_node_eq(item, from)) continue;
      TSNode alias{};
      if (type_of(item) == "aliased_import") {
        alias = child(item, "alias");
        item = child(item, "name");
      }
      if (type_of(item) != "dotted_name") continue;
      Site& site = all_.add(SiteKind::kImport, node);
      site.callee = all_.text(item);
      site.receiver = from.id == nullptr ? std::string_view{} : all_.text(from);
      site.name = alias.id != nullptr ? all_.text(alias) : site.callee;
      all_.facts.modules.insert(site.name.substr(0, site.name.find('.')));
    }
  }

  static constexpr std::uint32_t kMostImports = 256;
  Collector all_;
  std::vector<std::pair<const void*, int>> bodies_;            // Of loops entered, innermost last.
  std::vector<std::pair<const void*, std::uint32_t>> blocks_;  // With their statements.
};

}  // namespace

Facts python_facts(TSNode root, std::string_view bytes) {
  Python python(bytes);
  walk(
      root, [&](TSNode node, std::string_view field) { python.enter(node, field); },
      [&](TSNode node) { python.leave(node); });
  return python.take();
}

}  // namespace amdahl::code
