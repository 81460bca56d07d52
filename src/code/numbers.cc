#include "code/numbers.h"

#include <algorithm>
#include <array>
#include <functional>

#include "code/names.h"

namespace amdahl::code {
namespace {

constexpr int kDeepestExpression = 24;  // Deeper expressions are taken for anything.

constexpr auto kLeaves =
    std::to_array<std::string_view>({"identifier", "field_identifier", "integer", "float",
                                     "number_literal", "true", "false", "none", "null", "this"});
constexpr auto kNumbers = std::to_array<std::string_view>({"integer", "float", "number_literal"});
constexpr auto kAccess = std::to_array<std::string_view>(
    {"attribute", "field_expression", "subscript", "subscript_expression",
     "subscript_argument_list", "parenthesized_expression"});
constexpr auto kSigned = std::to_array<std::string_view>({"unary_operator", "unary_expression"});
constexpr auto kBinary = std::to_array<std::string_view>({"binary_operator", "binary_expression"});
constexpr auto kArithmetic = std::to_array<std::string_view>(
    {"+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"});

bool all_parts(TSNode node, const std::function<bool(TSNode)>& holds) {
  const std::uint32_t count = ts_node_named_child_count(node);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!holds(ts_node_named_child(node, i))) return false;
  }
  return count > 0;
}

bool has_sign(TSNode node) {
  const std::string_view sign = type_of(child(node, "operator"));
  return is_one_of(type_of(node), kSigned) && (sign == "-" || sign == "+");
}

bool is_arithmetic(TSNode node) {
  return is_one_of(type_of(node), kBinary) &&
         is_one_of(type_of(child(node, "operator")), kArithmetic);
}

bool is_pure_at(TSNode node, int depth) {
  if (depth > kDeepestExpression) return false;
  const std::string_view type = type_of(node);
  if (is_one_of(type, kLeaves)) return true;
  if (!is_one_of(type, kAccess) && !has_sign(node) && !is_arithmetic(node)) return false;
  return all_parts(node, [&](TSNode part) { return is_pure_at(part, depth + 1); });
}

bool is_number_at(TSNode node, std::string_view bytes, const NameSet& numbers, int depth) {
  if (depth > kDeepestExpression) return false;
  const std::string_view type = type_of(node);
  if (is_one_of(type, kNumbers)) return true;
  if (type == "identifier") return numbers.contains(text_of(node, bytes));
  if (type == "call") {
    return text_of(child(node, "function"), bytes) == "len" && numbers.contains("len");
  }
  const bool goes_on = is_arithmetic(node) || has_sign(node) || type == "parenthesized_expression";
  return goes_on && all_parts(node, [&](TSNode part) {
           return is_number_at(part, bytes, numbers, depth + 1);
         });
}

}  // namespace

bool is_pure(TSNode node) { return is_pure_at(node, 0); }

bool is_number(TSNode node, std::string_view bytes, const NameSet& numbers) {
  return is_number_at(node, bytes, numbers, 0);
}

bool declares_number(TSNode declaration, std::string_view bytes) {
  const TSNode type = child(declaration, "type");
  const std::string_view text = text_of(type, bytes);
  if (text_of(declaration, bytes).find("_Atomic") != std::string_view::npos) return false;
  return (type_of(type) == "primitive_type" && text != "void") ||
         type_of(type) == "sized_type_specifier" ||
         (text.starts_with("std::") && text.ends_with("_t") && text.find('<') == text.npos &&
          text != "std::nullptr_t");
}

}  // namespace amdahl::code
