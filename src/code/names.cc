#include "code/names.h"

#include <algorithm>
#include <array>

#include "code/numbers.h"

namespace amdahl::code {
namespace {

constexpr auto kPythonScopes = std::to_array<std::string_view>(
    {"function_definition", "lambda", "class_definition", "list_comprehension", "set_comprehension",
     "dictionary_comprehension", "generator_expression"});
constexpr auto kComprehensions =
    std::to_array<std::string_view>({"list_comprehension", "set_comprehension",
                                     "dictionary_comprehension", "generator_expression"});
constexpr auto kPatterns = std::to_array<std::string_view>(
    {"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern",
     "dictionary_splat_pattern", "as_pattern_target"});
constexpr auto kDeclarators = std::to_array<std::string_view>(
    {"pointer_declarator", "reference_declarator", "array_declarator", "init_declarator",
     "parenthesized_declarator", "structured_binding_declarator", "function_declarator"});
constexpr auto kDeclarations = std::to_array<std::string_view>(
    {"declaration", "parameter_declaration", "optional_parameter_declaration", "for_range_loop",
     "function_definition", "field_declaration", "lambda_capture_initializer"});

NameUse python_use(const Path& path, std::string_view bytes) {
  const Step& name = path.back();
  const Step& parent = path[path.size() - 2];
  if (parent.type == "keyword_argument" && name.field == "name") return NameUse::kNone;
  if (parent.type == "dotted_name") return NameUse::kNone;
  if (parent.type == "global_statement" || parent.type == "nonlocal_statement") {
    return NameUse::kOuter;
  }
  const bool is_field = parent.type == "attribute" && name.field == "attribute";
  std::size_t at = path.size() - (is_field ? 2 : 1);
  while (at > 1 && is_one_of(path[at - 1].type, kPatterns)) --at;
  const std::string_view above = path[at - 1].type;
  const std::string_view field = path[at].field;
  const bool is_target =
      field == "left" && (above == "assignment" || above == "for_statement" ||
                          above == "for_in_clause" || above == "augmented_assignment");
  // Attributes of other objects have their own meaning.
  const bool is_own = is_field && text_of(child(parent.node, "object"), bytes) == "self";
  if (is_field) return is_target && is_own ? NameUse::kFieldBound : NameUse::kField;
  const bool is_parameter = above == "parameters" || above == "lambda_parameters" ||
                            (above == "default_parameter" && field == "name") ||
                            (above == "typed_default_parameter" && field == "name") ||
                            (above == "typed_parameter" && field != "type");
  const bool is_definition = (above == "function_definition" || above == "class_definition" ||
                              above == "named_expression") &&
                             field == "name";
  const bool is_alias = field == "alias";
  return is_target || is_parameter || is_definition || is_alias ? NameUse::kBound : NameUse::kRead;
}

NameUse cpp_use(const Path& path) {
  const bool is_field = path.back().type == "field_identifier";
  std::size_t at = path.size() - 1;
  while (at > 1 && is_one_of(path[at - 1].type, kDeclarators) && path[at].field != "value" &&
         path[at].field != "size" && path[at].field != "parameters") {
    --at;
  }
  const bool is_bound = is_one_of(path[at - 1].type, kDeclarations) &&
                        (path[at].field == "declarator" || path[at].field == "left");
  if (is_field) return is_bound ? NameUse::kFieldBound : NameUse::kField;
  return is_bound ? NameUse::kBound : NameUse::kRead;
}

// Whether the name is the one that its own scope is called by, outside.
bool names_the_scope(const Path& path) {
  std::size_t at = path.size() - 1;
  while (at > 1 && is_one_of(path[at - 1].type, kDeclarators) && path[at].field != "parameters") {
    --at;
  }
  const std::string_view above = path[at - 1].type;
  return (above == "function_definition" || above == "class_definition") &&
         (path[at].field == "name" || path[at].field == "declarator");
}

class Collecting {
 public:
  Collecting(Language language, std::string_view bytes) : language_{language}, bytes_{bytes} {}

  void enter(TSNode node, std::string_view field) {
    path_.push_back({type_of(node), field, node});
    if (opens_scope(language_, path_.back().type)) scopes_.push_back(path_.size() - 1);
    if (path_.size() < 2) return;
    const NameUse use = use_of(language_, path_, bytes_);
    if (use == NameUse::kNone) return;
    const std::string name(text_of(node, bytes_));
    names.all.insert(name);
    const bool is_bound = use == NameUse::kBound || use == NameUse::kFieldBound;
    if (is_bound) names.bound.insert(name);
    if (use == NameUse::kRead || use == NameUse::kField) names.read.insert(name);
    const bool is_read = use == NameUse::kRead || path_.end()[-2].type == "augmented_assignment";
    if (is_read && !scopes_.empty()) names.read_in[id(scopes_.front())].insert(name);
    if (use == NameUse::kOuter && !scopes_.empty()) outer_[id(scopes_.back())].insert(name);
    if (use == NameUse::kOuter || is_captured()) shared_.insert(name);
    if (use == NameUse::kBound) bind(name);
  }

  void leave() {
    if (!scopes_.empty() && scopes_.back() == path_.size() - 1) scopes_.pop_back();
    path_.pop_back();
  }

  void finish() {
    for (const auto& [scope, outer] : outer_) {
      for (const std::string& name : outer) names.bound_in[scope].erase(name);
    }
    for (const auto& [scope, bound] : values_) find_numbers(scope, bound);
  }

  Names names;

 private:
  const void* id(std::size_t step) const { return path_[step].node.id; }

  void bind(const std::string& name) {
    std::size_t depth = scopes_.size();
    if (names_the_scope(path_)) {
      if (depth == 0) return;
      --depth;
    }
    // What := binds belongs to the function around a comprehension.
    const bool leaves = path_.end()[-2].type == "named_expression";
    while (leaves && depth > 0 && is_one_of(path_[scopes_[depth - 1]].type, kComprehensions)) {
      --depth;
    }
    if (depth == 0 || is_class(path_[scopes_[depth - 1]].type)) return;
    names.bound_in[id(scopes_[depth - 1])].insert(name);
    values_[id(scopes_[depth - 1])][name].push_back(value_bound());
  }

  // What the name at the end of the path is given: an expression or a declaration; null if it
  // cannot be told.
  TSNode value_bound() const {
    const Step& name = path_.back();
    if (language_ == Language::kCpp) {
      std::size_t at = path_.size() - 2;
      while (at > 0 && path_[at].type == "init_declarator") --at;
      return is_one_of(path_[at].type, kDeclarations) ? path_[at].node : TSNode{};
    }
    const Step& above = path_.end()[-2];
    const TSNode right = child(above.node, "right");
    if (name.field != "left") return {};
    if (above.type == "assignment" || above.type == "augmented_assignment") return right;
    const bool counts = type_of(right) == "call" &&
                        text_of(child(right, "function"), bytes_) == "range" &&
                        (above.type == "for_statement" || above.type == "for_in_clause");
    return counts ? right : TSNode{};
  }

  // A name in a pattern of match, which binds it.
  bool is_captured() const {
    return std::ranges::any_of(path_, [](const Step& step) { return step.type == "case_pattern"; });
  }

  bool is_numeric(TSNode value, const NameSet& numbers) const {
    if (ts_node_is_null(value)) return false;
    if (language_ == Language::kCpp) return declares_number(value, bytes_);
    const bool counts = text_of(child(value, "function"), bytes_) == "range";
    return (counts && !names.bound.contains("range")) || is_number(value, bytes_, numbers);
  }

  // All of them are, until one of their values shows otherwise.
  void find_numbers(const void* scope, const std::map<std::string, std::vector<TSNode>>& bound) {
    constexpr int kMostRounds = 20;
    NameSet numbers;
    for (const auto& [name, values] : bound) {
      if (!shared_.contains(name)) numbers.insert(name);
    }
    if (!names.bound.contains("len")) numbers.insert("len");
    std::size_t gone = 1;
    for (int round = 0; gone > 0 && round < kMostRounds; ++round) {
      const NameSet before = numbers;
      gone = std::erase_if(numbers, [&](const std::string& name) {
        const auto values = bound.find(name);
        return values != bound.end() && !std::ranges::all_of(values->second, [&](TSNode value) {
                 return is_numeric(value, before);
               });
      });
    }
    if (gone == 0) names.numbers_in[scope] = std::move(numbers);
  }

  Language language_;
  std::string_view bytes_;
  Path path_;
  std::vector<std::size_t> scopes_;  // Steps of the path.
  std::map<const void*, std::set<std::string>> outer_;
  std::set<std::string, std::less<>> shared_;  // Bound in other ways, too.
  std::map<const void*, std::map<std::string, std::vector<TSNode>>> values_;  // By scope and name.
};

}  // namespace

bool is_one_of(std::string_view type, std::span<const std::string_view> types) {
  return std::ranges::find(types, type) != types.end();
}

NameUse use_of(Language language, const Path& path, std::string_view bytes) {
  if (path.size() < 2) return NameUse::kNone;
  const std::string_view type = path.back().type;
  const bool is_name =
      type == "identifier" || type == "field_identifier" || type == "type_identifier";
  if (!is_name) return NameUse::kNone;
  return language == Language::kPython ? python_use(path, bytes) : cpp_use(path);
}

bool opens_scope(Language language, std::string_view type) {
  return language == Language::kPython ? is_one_of(type, kPythonScopes)
                                       : type == "function_definition";
}

bool is_class(std::string_view type) { return type == "class_definition"; }

Names names_in(Language language, TSNode root, std::string_view bytes) {
  Collecting collecting(language, bytes);
  walk(
      root, [&](TSNode node, std::string_view field) { collecting.enter(node, field); },
      [&](TSNode) { collecting.leave(); });
  collecting.finish();
  return std::move(collecting.names);
}

}  // namespace amdahl::code
