// tokens.h: access tokens of the server and their roles; only hashes of secrets are stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace amdahl::app {

// Each includes the rights of the ones before it.
enum class Role : std::uint8_t { kReader, kProposer, kApprover };
std::string_view name(Role role);  // "reader", "proposer", "approver".
std::optional<Role> role_named(std::string_view name);

struct Token {
  std::string id;    // "t-" and 8 hex digits; first part of the token.
  std::string name;  // Its owner: recorded in the ledger with each decision.
  Role role = Role::kReader;
  std::string hash;  // SHA-256 of the secret (256 random bits).
  Nanos made{};
  Nanos expires{};  // 0: never.
};

// Ok, or why decisions cannot be recorded under this name.
Result<> check_person(std::string_view name);

struct IssuedToken {
  Token token;
  std::string text;  // The whole token. Shown once, stored nowhere.
};
// Creates a token without storing it.
Result<IssuedToken> issue_token(const std::string& name, Role role, Nanos now, Nanos lasts);

// tokens.json of a state folder, readable by its owner only: docs/format/tokens.md.
class TokenFile {
 public:
  explicit TokenFile(std::string path) : path_{std::move(path)} {}

  // Oldest first. kBadInput if others may read the file, or it is damaged: then nobody gets in.
  Result<std::vector<Token>> read() const;
  Result<IssuedToken> add(const std::string& name, Role role, Nanos now, Nanos lasts) const;
  // By id. kNotFound if it does not exist.
  Result<Token> revoke(const std::string& id) const;
  // A new one for the same person and role, for as long as the old one lasted; that one ends.
  Result<IssuedToken> rotate(const std::string& id, Nanos now) const;

 private:
  Result<> write(const std::vector<Token>& tokens) const;

  std::string path_;
};

// 256 random bits, in hex.
std::string random_key();

// The token that matches `text` and has not expired, or null. Constant time for wrong secrets.
const Token* token_for(const std::vector<Token>& tokens, std::string_view text, Nanos now);

}  // namespace amdahl::app
