#include <csignal>

#include <fmt/core.h>
#include <unistd.h>

#include "app/tune.h"
#include "cli/grant.h"
#include "cli/show.h"
#include "cli/verbs.h"
#include "mcp/stdio.h"

namespace amdahl::cli {

Result<> set_grant(const std::string& budget, mcp::Grant& grant) {
  if (budget.empty()) return Ok{};
  app::TuneOptions time;
  app::Config limits;
  TRY(app::set_budget(budget, time, limits));
  grant.accelerator_hours = limits.budget_accelerator_hours;
  grant.usd = limits.budget_usd;
  const bool by_time = !grant.accelerator_hours && !grant.usd;
  grant.time = by_time ? time.budget : Nanos(std::chrono::hours(24));
  return Ok{};
}

Result<int> do_mcp(const McpFlags& flags) {
  if (flags.json) return bad_input("mcp speaks the protocol on its own and takes no --json");
  const app::Config config = TRY(config_for(flags));
  if (flags.accelerators < 0) return bad_input("--accelerators must be at least 1");
  mcp::Grant grant{
      .command = flags.command, .family = flags.family, .accelerators = flags.accelerators};
  TRY(set_grant(flags.budget, grant));
  // A client that goes away ends us by the end of its output, not by a signal.
  std::signal(SIGPIPE, SIG_IGN);
  mcp::Server server(config, std::move(grant), std::string(program_version()));
  TRY(mcp::serve(server, STDIN_FILENO, STDOUT_FILENO));
  return 0;
}

}  // namespace amdahl::cli
