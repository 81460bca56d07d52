#include "cli/completion.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace amdahl::cli {
namespace {

std::string long_name(const Option& option) {
  return std::string(option.name.substr(option.name.find("--")));
}

std::string options_of(std::string_view verb) {
  std::string text;
  for (const Option& option : options()) {
    if (option.verb.empty() || option.verb == verb) text += " " + long_name(option);
  }
  return text;
}

std::string_view words_of(std::string_view verb) {
  if (verb == "gate") return " list show approve reject rollback";
  if (verb == "ledger") return " list show search verify export reopen";
  if (verb == "completion") return " bash zsh fish";
  return "";
}

std::string bash() {
  std::string names;
  std::string cases;
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    names += fmt::format(" {}", verb.name);
    cases += fmt::format("    {}) words='{}{}' ;;\n", verb.name, trim(options_of(verb.name)),
                         words_of(verb.name));
  }
  return fmt::format(
      "# amdahl completion for bash: source <(amdahl completion bash)\n"
      "_amdahl() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} words=''\n"
      "  case ${{COMP_WORDS[1]}} in\n{}"
      "  esac\n"
      "  [ \"$COMP_CWORD\" -eq 1 ] && words='{}'\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}}\n"
      "complete -o default -F _amdahl amdahl\n",
      cases, trim(names));
}

std::string zsh() {
  return "# amdahl completion for zsh: source <(amdahl completion zsh)\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash();
}

std::string fish() {
  std::string text = "# amdahl completion for fish: amdahl completion fish | source\n";
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    text += fmt::format("complete -c amdahl -n __fish_use_subcommand -a {} -d '{}'\n", verb.name,
                        verb.summary);
    for (const Option& option : options()) {
      if (!option.verb.empty() && option.verb != verb.name) continue;
      text += fmt::format("complete -c amdahl -n '__fish_seen_subcommand_from {}' -l {} -d '{}'\n",
                          verb.name, long_name(option).substr(2), option.does);
    }
  }
  return text;
}

}  // namespace

Result<std::string> completion_for(const std::string& shell) {
  if (shell == "bash") return bash();
  if (shell == "zsh") return zsh();
  if (shell == "fish") return fish();
  return bad_input(fmt::format("completion is for bash, zsh or fish, not '{}'", shell));
}

}  // namespace amdahl::cli
