#include "cli/completion.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

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

std::string_view arguments_of(std::string_view verb) {
  if (verb == "gate") return " list show approve reject rollback";
  if (verb == "canary") return " keep";
  if (verb == "ledger") return " list log show pairs search calibration verify export copy reopen";
  if (verb == "serve") return " token";
  if (verb == "completion") return " bash zsh fish";
  return "";
}

// Values that are one of a few words. Those of other options are left to the shell: files.
std::string_view values_of(std::string_view option) {
  if (option == "--until") return "settled first-win never";
  if (option == "--gate-policy") return "demo";
  if (option == "--role") return "reader proposer approver";
  if (option == "--hypothesis-state") {
    return "live promoted declined refuted harmful inconclusive invalid aborted dropped reopened";
  }
  return "";
}

// "--state|--config|...": those that take a value, each once.
std::string value_options() {
  std::vector<std::string> names;
  for (const Option& option : options()) {
    const std::string name = long_name(option);
    const bool known = std::ranges::find(names, name) != names.end();
    if (!option.value.empty() && !known && values_of(name).empty()) names.push_back(name);
  }
  return join(names, "|");
}

std::string bash() {
  std::string names;
  std::string cases;
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    names += fmt::format(" {}", verb.name);
    cases += fmt::format("    {}) words='{}{}' ;;\n", verb.name, trim(options_of(verb.name)),
                         arguments_of(verb.name));
  }
  std::string values;
  for (const std::string_view option : {"--until", "--gate-policy", "--hypothesis-state"}) {
    values += fmt::format("    {}) words='{}' ;;\n", option, values_of(option));
  }
  return fmt::format(
      "# amdahl completion for bash: source <(amdahl completion bash)\n"
      "_amdahl() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} verb='' words='' i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case ${{COMP_WORDS[i]}} in\n"
      "    --state|--config) ((i++)) ;;\n"
      "    -*) ;;\n"
      "    *) verb=${{COMP_WORDS[i]}}; break ;;\n"
      "    esac\n"
      "  done\n"
      "  case $verb in\n"
      "    '') words='{0} help {1}' ;;\n"
      "    help) words='{0}' ;;\n{2}"
      "  esac\n"
      "  case ${{COMP_WORDS[COMP_CWORD - 1]}} in\n{3}"
      "    {4}) words='' ;;\n"
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}}\n"
      "complete -o default -F _amdahl amdahl\n",
      trim(names), trim(options_of("")), cases, values, value_options());
}

std::string zsh() {
  return "# amdahl completion for zsh: source <(amdahl completion zsh)\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash();
}

// Inside fish's single quotes.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string fish() {
  std::string text = "# amdahl completion for fish: amdahl completion fish | source\n";
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    text += fmt::format("complete -c amdahl -f -n __fish_use_subcommand -a {} -d '{}'\n", verb.name,
                        escaped(verb.summary));
    if (!arguments_of(verb.name).empty()) {
      text += fmt::format("complete -c amdahl -f -n '__fish_seen_subcommand_from {}' -a '{}'\n",
                          verb.name, trim(arguments_of(verb.name)));
    }
    for (const Option& option : options()) {
      if (!option.verb.empty() && option.verb != verb.name) continue;
      const std::string name = long_name(option);
      std::string value = option.value.empty() ? "" : " -r";
      if (!values_of(name).empty()) value += fmt::format(" -f -a '{}'", values_of(name));
      text +=
          fmt::format("complete -c amdahl -n '__fish_seen_subcommand_from {}' -l {}{} -d '{}'\n",
                      verb.name, name.substr(2), value, escaped(option.does));
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
