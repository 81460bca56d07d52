#include <fmt/core.h>

#include "api/profile.h"
#include "app/evidence.h"
#include "cli/show.h"
#include "cli/verbs.h"

namespace amdahl::cli {

Result<int> do_brief(const BriefFlags& flags) {
  if (flags.words.empty()) return bad_input("brief needs a family; type: amdahl brief --help");
  const auto role = brief::role_named(flags.role);
  if (!role) {
    return bad_input(fmt::format("--role must be propose, attack or dream, not '{}'", flags.role));
  }
  app::Context context = TRY(context_for(flags, false));
  const app::Brief brief = TRY(app::brief_on(context, flags.words.front(), *role));
  if (flags.json) {
    print_json(api::brief(brief));
  } else {
    print(brief.prompt);
  }
  return 0;
}

}  // namespace amdahl::cli
