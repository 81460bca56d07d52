// tokens.h: who may ask the server, and how much each may do; secrets are kept as hashes alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace amdahl::app {

// Each may do what the ones before it may.
enum class Role : std::uint8_t { kReader, kProposer, kApprover };
std::string_view name(Role role);  // "reader", "proposer", "approver".
std::optional<Role> role_named(std::string_view name);

struct Token {
  std::string id;    // "t-" and 8 hex digits; the first part of what its holder types.
  std::string name;  // Whose it is: this name is written to the ledger with each decision.
  Role role = Role::kReader;
  std::string hash;  // SHA-256 of the secret, which is 256 random bits.
  Nanos made{};
  Nanos expires{};  // 0: never.
};

// Ok, or why decisions cannot be recorded under this name.
Result<> check_person(std::string_view name);

struct IssuedToken {
  Token token;
  std::string text;  // What the holder types. It is nowhere else: shown once.
};
// A token that is in no file.
Result<IssuedToken> issue_token(const std::string& name, Role role, Nanos now, Nanos lasts);

// The file tokens.json of a state folder, for its owner alone: docs/format/tokens.md.
class TokenFile {
 public:
  explicit TokenFile(std::string path) : path_{std::move(path)} {}

  // Oldest first. kBadInput if others may read the file, or it is damaged: then nobody gets in.
  Result<std::vector<Token>> read() const;
  Result<IssuedToken> add(const std::string& name, Role role, Nanos now, Nanos lasts) const;
  // By id. kNotFound if there is none.
  Result<Token> revoke(const std::string& id) const;

 private:
  Result<> write(const std::vector<Token>& tokens) const;

  std::string path_;
};

// 256 random bits, in hex.
std::string random_key();

// The one that `text` is, unless it has expired. Takes the same time for every wrong secret.
const Token* token_for(const std::vector<Token>& tokens, std::string_view text, Nanos now);

}  // namespace amdahl::app
