// What a C++ tree means for the rules.
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "code/collector.h"
#include "code/facts.h"

namespace amdahl::code {
namespace {

// "std::lock_guard<std::mutex>" without its template arguments.
std::string_view without_template(std::string_view name) { return name.substr(0, name.find('<')); }

std::string_view last_word(std::string_view name) {
  const auto colons = name.rfind("::");
  return colons == name.npos ? name : name.substr(colons + 2);
}

class Cpp {
 public:
  explicit Cpp(std::string_view bytes) : all_(Language::kCpp, bytes) {}

  void enter(TSNode node, std::string_view field) {
    if (ts_node_is_named(node)) enter_named(node, type_of(node));
    // What a `for` does once, before it starts, is not in the loop.
    if (!parts_.empty() && parts_.back().first == node.id) {
      all_.open_loop(node, parts_.back().second);
      parts_.pop_back();
    }
    if (field == "condition") all_.open_condition(node);
  }

  void leave(TSNode node) { all_.leave(node); }
  Facts take() {
    add_launches();
    return std::move(all_.facts);
  }

 private:
  void enter_named(TSNode node, std::string_view type) {
    if (type.ends_with("_statement") || type == "declaration") all_.open_statement(node, false);
    if (type == "call_expression") {
      enter_call(node);
    } else if (type == "function_definition") {
      open_function(node);
    } else if (type == "class_specifier" || type == "struct_specifier") {
      if (child(node, "body").id != nullptr) all_.open_class(node, all_.text(child(node, "name")));
    } else if (type == "declaration") {
      enter_declaration(node);
    } else if (type == "new_expression") {
      Site& site = all_.add(SiteKind::kCall, node);
      site.callee = site.name = "new";
    } else if (type == "qualified_identifier" || type == "identifier") {
      const std::string_view text = all_.text(node);
      if (text == "std::endl" || text == "std::flush") {
        Site& site = all_.add(SiteKind::kName, node);
        site.callee = text;
        site.name = last_word(text);
      }
    } else {
      enter_loop(node, type);
    }
  }

  void enter_loop(TSNode node, std::string_view type) {
    if (type == "for_statement") {
      const int loop = all_.add_loop(node, all_.text(child(node, "condition")));
      // The last is met first.
      for (const char* part : {"body", "update", "condition"}) add_part(node, part, loop);
    } else if (type == "for_range_loop") {
      add_part(node, "body", all_.add_loop(node, all_.text(child(node, "right"))));
    } else if (type == "while_statement" || type == "do_statement") {
      all_.open_loop(node, all_.add_loop(node, all_.text(child(node, "condition"))));
    }
  }

  void add_part(TSNode node, std::string_view field, int loop) {
    const TSNode part = child(node, field);
    if (part.id != nullptr) parts_.emplace_back(part.id, loop);
  }

  void enter_call(TSNode node) {
    const TSNode function = child(node, "function");
    const std::string_view type = type_of(function);
    Site& site = all_.add(SiteKind::kCall, node);
    site.callee = all_.text(function);
    site.name = last_word(site.callee);
    if (type == "field_expression") {
      site.name = without_template(all_.text(child(function, "field")));
      site.receiver = all_.text(child(function, "argument"));
    } else if (type == "template_function" || type == "qualified_identifier") {
      site.callee = without_template(site.callee);
      site.name = last_word(site.callee);
    }
    all_.take_arguments(site, child(node, "arguments"));
  }

  // A variable of a class's type runs a constructor: threads start, locks are taken.
  void enter_declaration(TSNode node) {
    const TSNode of = child(node, "type");
    const std::string_view type = type_of(of);
    if (type != "qualified_identifier" && type != "template_type" && type != "type_identifier") {
      return;
    }
    Site& site = all_.add(SiteKind::kCall, node);
    site.callee = without_template(all_.text(of));
    site.name = last_word(site.callee);
  }

  void open_function(TSNode node) {
    TSNode at = child(node, "declarator");
    for (int depth = 0; depth < kDeepestDeclarator && at.id != nullptr; ++depth) {
      const TSNode inner = child(at, "declarator");
      if (inner.id == nullptr) break;
      at = inner;
    }
    const std::string_view named = all_.text(at);
    const auto colons = named.rfind("::");
    all_.open_function(node, last_word(named));
    if (colons == named.npos) return;
    all_.facts.functions.back().owner = last_word(named.substr(0, colons));
  }

  // The grammar does not know CUDA's launches: they are found in the text.
  void add_launches() {
    Facts& facts = all_.facts;
    if (facts.bytes.find("<<<") == facts.bytes.npos) return;
    for (std::size_t i = 0; i < facts.loops.size(); ++i) {
      const Range& range = facts.loops[i].range;
      const std::string_view text = facts.bytes.substr(range.begin, range.end - range.begin);
      if (text.substr(0, kMostLoopText).find("<<<") == text.npos) continue;
      Site site;
      site.callee = site.name = "<<<>>>";
      site.range = site.statement = range;
      site.function = facts.loops[i].function;
      site.loop = static_cast<int>(i);
      facts.sites.push_back(site);
    }
  }

  static constexpr int kDeepestDeclarator = 16;
  static constexpr std::size_t kMostLoopText = 10'000;
  Collector all_;
  std::vector<std::pair<const void*, int>> parts_;  // Of loops entered, the next one last.
};

}  // namespace

Facts cpp_facts(TSNode root, std::string_view bytes) {
  Cpp cpp(bytes);
  walk(
      root, [&](TSNode node, std::string_view field) { cpp.enter(node, field); },
      [&](TSNode node) { cpp.leave(node); });
  return cpp.take();
}

}  // namespace amdahl::code
