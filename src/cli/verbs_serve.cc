#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "api/machine.h"
#include "app/context.h"
#include "app/door.h"
#include "app/tokens.h"
#include "base/text.h"
#include "cli/grant.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "http/server.h"

namespace amdahl::cli {
namespace {

constexpr int kMostDays = 3650;

int show_token(const ServeFlags& flags, const app::IssuedToken& issued) {
  if (flags.json) {
    print_json(api::token_added(issued));
  } else {
    fmt::print(stderr, "amdahl: token {} of {} ({}); it is shown only now:\n", issued.token.id,
               issued.token.name, app::name(issued.token.role));
    print(issued.text + "\n");
  }
  return 0;
}

Result<int> add_token(const ServeFlags& flags, const app::TokenFile& file) {
  if (flags.words.size() != 3) return bad_input("serve token add needs a person's name");
  const auto role = app::role_named(flags.role);
  if (!role) {
    return bad_input(
        fmt::format("--role must be reader, proposer or approver, not '{}'", flags.role));
  }
  if (flags.days < 0 || flags.days > kMostDays) {
    return bad_input(fmt::format("--days must be from 0 (never) to {}", kMostDays));
  }
  return show_token(flags, TRY(file.add(flags.words[2], *role, app::unix_now(),
                                        std::chrono::hours(24) * flags.days)));
}

Result<int> rotate_token(const ServeFlags& flags, const app::TokenFile& file) {
  if (flags.words.size() != 3) return bad_input("serve token rotate needs the id of a token");
  return show_token(flags, TRY(file.rotate(flags.words[2], app::unix_now())));
}

Result<int> list_tokens(const ServeFlags& flags, const app::TokenFile& file) {
  const std::vector<app::Token> tokens = TRY(file.read());
  if (flags.json) {
    print_json(api::tokens(tokens));
    return 0;
  }
  if (tokens.empty()) {
    print("No tokens yet; type: amdahl serve token add NAME --role ROLE\n");
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  for (const app::Token& token : tokens) {
    rows.push_back({token.id, token.name, std::string(app::name(token.role)),
                    describe_time(token.made),
                    token.expires == Nanos{} ? "never" : describe_time(token.expires)});
  }
  print(table({"token", "name", "role", "made (UTC)", "expires"}, rows));
  return 0;
}

Result<int> revoke_token(const ServeFlags& flags, const app::TokenFile& file) {
  if (flags.words.size() != 3) return bad_input("serve token revoke needs the id of a token");
  const app::Token token = TRY(file.revoke(flags.words[2]));
  if (flags.json) {
    print_json(api::token_revoked(token));
  } else {
    print(fmt::format("token {} of {} is revoked\n", token.id, token.name));
  }
  return 0;
}

Result<int> do_token(const ServeFlags& flags) {
  const app::Config config = TRY(config_for(flags));
  const app::TokenFile file(config.state_dir + "/tokens.json");
  const std::string what = flags.words.size() > 1 ? flags.words[1] : "list";
  if (what != "list") TRY(app::make_state(config.state_dir));
  if (what == "add") return add_token(flags, file);
  if (what == "rotate") return rotate_token(flags, file);
  if (what == "revoke") return revoke_token(flags, file);
  if (what == "list" && flags.words.size() <= 2) return list_tokens(flags, file);
  return bad_input("serve token needs one of: add NAME --role ROLE, list, rotate ID, or revoke ID");
}

// "127.0.0.1:8300", "[::1]:8300" or a port alone.
Result<> read_listen(const std::string& typed, http::ServeOptions& options) {
  const std::size_t colon = typed.rfind(':');
  const std::string_view port = std::string_view(typed).substr(colon == typed.npos ? 0 : colon + 1);
  if (colon != typed.npos) options.address = typed.substr(0, colon);
  if (options.address.starts_with('[') && options.address.ends_with(']')) {
    options.address = options.address.substr(1, options.address.size() - 2);
  }
  if (options.address == "localhost") options.address = "127.0.0.1";
  const auto number = to_number<int>(port);
  if (!number || options.address.empty()) {
    return bad_input(fmt::format("--listen must be ADDRESS:PORT, not '{}'", typed));
  }
  options.port = *number;
  return Ok{};
}

}  // namespace

Result<int> do_serve(const ServeFlags& flags) {
  if (!flags.words.empty() && flags.words.front() == "token") return do_token(flags);
  if (!flags.words.empty()) {
    return bad_input(fmt::format("serve: unexpected argument '{}'; type: amdahl serve --help",
                                 flags.words.front()));
  }
  http::ServeOptions options;
  TRY(read_listen(flags.listen, options));
  options.tls_certificate = flags.tls_cert;
  options.tls_key = flags.tls_key;
  for (const std::string& host : flags.allow_hosts) options.hosts.push_back(lower(host));
  options.program = {std::string(program_version()), std::string(program_revision())};
  options.stopped = interrupted;
  if (!flags.agents.empty()) TRY(set_grant(flags.agents, options.agents.emplace()));
  std::string link;
  if (flags.link || ::isatty(STDOUT_FILENO) == 1) {
    const app::IssuedToken own = TRY(app::issue_token(app::user_or(""), app::Role::kApprover,
                                                      app::unix_now(), std::chrono::hours(24)));
    options.own_token = own.token;
    link = own.text;
  }
  options.ready = [&](const std::string& url) {
    print(fmt::format("Listening on {}\n", url));
    if (!link.empty()) {
      print(fmt::format("To log in as {} (approver), open {}#token={}\n", options.own_token->name,
                        url, link));
    } else {
      print("No login link, because the output is not a terminal: pass --link to have one\n");
    }
    print("Tokens for others: amdahl serve token add NAME --role reader|proposer|approver\n");
    std::fflush(stdout);
  };
  const app::Config config = TRY(config_for(flags));
  catch_interrupts();
  TRY(http::serve(config, options));
  return 0;
}

}  // namespace amdahl::cli
