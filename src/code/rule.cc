#include "code/rule.h"

#include <algorithm>

namespace amdahl::code {
namespace {

bool ends_in(std::string_view callee, std::string_view name) {
  if (!callee.ends_with(name)) return false;
  const std::size_t left = callee.size() - name.size();
  return left == 0 || callee[left - 1] == '.' || callee[left - 1] == ':' || callee[left - 1] == '>';
}

}  // namespace

bool is_named(const Rule& rule, const Site& site) {
  if (rule.names.empty()) return true;
  return std::ranges::any_of(rule.names, [&](std::string_view name) {
    return name.find_first_of(".:") == name.npos ? site.name == name : ends_in(site.callee, name);
  });
}

const Rule* rule_named(std::string_view id) {
  for (const auto rules : {python_rules(), cpp_rules()}) {
    const auto found = std::ranges::find(rules, id, &Rule::id);
    if (found != rules.end()) return &*found;
  }
  return nullptr;
}

}  // namespace amdahl::code
