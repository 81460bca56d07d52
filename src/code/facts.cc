#include "code/facts.h"

#include <algorithm>

namespace amdahl::code {

Result<Facts> facts_of(Language language, std::string_view bytes) {
  const Tree tree = TRY(parse(language, bytes));
  const TSNode root = ts_tree_root_node(tree.get());
  return language == Language::kPython ? python_facts(root, bytes) : cpp_facts(root, bytes);
}

std::string_view module_of(std::string_view path) {
  constexpr std::string_view kPackage = "/__init__.py";
  if (path.ends_with(kPackage)) path.remove_suffix(kPackage.size());
  path = path.substr(path.rfind('/') + 1);
  return path.substr(0, path.rfind('.'));
}

const Argument* argument(const Site& site, std::string_view keyword) {
  const auto found = std::ranges::find(site.arguments, keyword, &Argument::keyword);
  return found == site.arguments.end() ? nullptr : &*found;
}

const Argument* argument_at(const Site& site, std::size_t place) {
  if (place >= site.arguments.size() || !site.arguments[place].keyword.empty()) return nullptr;
  return &site.arguments[place];
}

}  // namespace amdahl::code
