// names.h: which identifiers of a source text are variables, and where they are bound.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "code/tree.h"

namespace amdahl::code {

bool is_one_of(std::string_view type, std::span<const std::string_view> types);

// A node on the way from the root, with its field in its parent.
struct Step {
  std::string_view type;
  std::string_view field;
  TSNode node{};
};
using Path = std::vector<Step>;  // The last one is the node itself.

// What an identifier at the end of a path is.
enum class NameUse : std::uint8_t {
  kNone,       // No identifier.
  kRead,       // A variable, function or type that is used.
  kBound,      // Assigned, declared or defined here.
  kOuter,      // Declared global or nonlocal.
  kField,      // An attribute or member that is used.
  kFieldBound  // An attribute of the object itself that is assigned, or a declared member.
};
NameUse use_of(Language language, const Path& path, std::string_view bytes);

bool opens_scope(Language language, std::string_view type);
bool is_class(std::string_view type);

// The names of one text.
struct Names {
  std::map<const void*, std::set<std::string, std::less<>>> bound_in;  // By the scope's node.
  // Names that are read somewhere in the outermost function around a scope.
  std::map<const void*, std::set<std::string, std::less<>>> read_in;
  // Of bound_in, those that hold nothing but numbers.
  std::map<const void*, std::set<std::string, std::less<>>> numbers_in;
  std::set<std::string, std::less<>> all;
  std::set<std::string, std::less<>> bound;  // Anywhere.
  std::set<std::string, std::less<>> read;   // Anywhere.
};
Names names_in(Language language, TSNode root, std::string_view bytes);

}  // namespace amdahl::code
