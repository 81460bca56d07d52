#include "app/tokens.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "os/files.h"
#include "os/host.h"
#include "os/lock.h"
#include "os/private.h"

namespace amdahl::app {
namespace {

constexpr int kTokenSchema = 1;
constexpr int kIdDigits = 8;
constexpr int kSecretDigits = 64;
constexpr std::size_t kLongestName = 64;

constexpr std::array<std::string_view, 3> kRoles = {"reader", "proposer", "approver"};

Json encode(const Token& token) {
  return {{"id", token.id},
          {"name", token.name},
          {"role", name(token.role)},
          {"hash", token.hash},
          {"made_ns", token.made.count()},
          {"expires_ns", token.expires.count()}};
}

Result<Token> decode(const Json& json) {
  const auto text = [&](const char* field) {
    const auto found = json.find(field);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto time = [&](const char* field) {
    const auto found = json.find(field);
    const bool fits = found != json.end() && found->is_number_integer();
    return Nanos{fits ? found->get<std::int64_t>() : -1};
  };
  Token token{text("id"),   text("name"),    Role::kReader,
              text("hash"), time("made_ns"), time("expires_ns")};
  const auto role = role_named(text("role"));
  if (!role || token.id.empty() || token.name.empty() || token.hash.size() != kSecretDigits ||
      token.expires < Nanos{}) {
    return bad_input(fmt::format("token '{}' is damaged", token.id));
  }
  token.role = *role;
  return token;
}

// Looks at every byte, so that the time tells nothing of where they differ.
bool equal_secretly(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differ = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differ |= static_cast<unsigned>(a[i] ^ b[i]);
  return differ == 0;
}

Result<os::FileLock> lock(const std::string& path) {
  auto taken = os::FileLock::try_take(path + ".lock");
  if (taken) return std::move(*taken);
  return Error{Error::Kind::kBusy,
               fmt::format("{}: another process changes the tokens; try again", path)};
}

Result<std::vector<Token>::iterator> row_of(std::vector<Token>& tokens, const std::string& id) {
  const auto row = std::ranges::find(tokens, id, &Token::id);
  if (row != tokens.end()) return row;
  return Error{Error::Kind::kNotFound,
               fmt::format("no token has the id '{}'; type: amdahl serve token list", id)};
}

}  // namespace

std::string_view name(Role role) { return kRoles[static_cast<std::size_t>(role)]; }

std::optional<Role> role_named(std::string_view name) {
  const auto row = std::ranges::find(kRoles, name);
  if (row == kRoles.end()) return std::nullopt;
  return static_cast<Role>(row - kRoles.begin());
}

Result<> check_person(std::string_view name) {
  const auto is_fine = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("._@ -").find(c) != std::string_view::npos;
  };
  const bool fits = !name.empty() && name.size() <= kLongestName && trim(name) == name;
  if (fits && name != "cycle" && std::ranges::all_of(name, is_fine)) return Ok{};
  return bad_input(
      fmt::format("'{}' cannot be the name of a token: use a person's name of at most {} letters, "
                  "digits, spaces, '.', '_', '@' or '-'",
                  clip(name, kLongestName), kLongestName));
}

Result<IssuedToken> issue_token(const std::string& name, Role role, Nanos now, Nanos lasts) {
  TRY(check_person(name));
  const std::string secret = random_key();
  Token token{"t-" + os::random_hex(kIdDigits),       name, role, sha256_hex(secret), now,
              lasts > Nanos{} ? now + lasts : Nanos{}};
  const std::string text = fmt::format("{}.{}", token.id, secret);
  return IssuedToken{std::move(token), text};
}

Result<std::vector<Token>> TokenFile::read() const {
  std::vector<Token> tokens;
  if (!os::exists(path_)) return tokens;
  if (os::is_open_to_others(path_)) {
    return bad_input(fmt::format("{0}: others may read it; type: chmod 600 {0}", path_));
  }
  const std::string bytes = TRY(os::read_file(path_));
  const Json doc = TRY(parse_json(bytes).in(path_));
  const bool is_ours = doc.is_object() && doc.contains("schema") && doc["schema"] == kTokenSchema &&
                       doc.contains("tokens") && doc["tokens"].is_array();
  if (!is_ours) {
    return bad_input(
        fmt::format("{}: not a token list of schema {}; move the file away to start "
                    "again",
                    path_, kTokenSchema));
  }
  for (const Json& one : doc["tokens"]) {
    if (!one.is_object()) return bad_input(fmt::format("{}: a token is damaged", path_));
    tokens.push_back(TRY(decode(one).in(path_)));
  }
  return tokens;
}

Result<> TokenFile::write(const std::vector<Token>& tokens) const {
  Json list = Json::array();
  for (const Token& token : tokens) list.push_back(encode(token));
  TRY(os::make_private_file(path_));
  return os::write_file(path_, pretty_json({{"schema", kTokenSchema}, {"tokens", list}}) + "\n");
}

Result<IssuedToken> TokenFile::add(const std::string& name, Role role, Nanos now,
                                   Nanos lasts) const {
  IssuedToken issued = TRY(issue_token(name, role, now, lasts));
  const os::FileLock alone = TRY(lock(path_));
  std::vector<Token> tokens = TRY(read());
  tokens.push_back(issued.token);
  TRY(write(tokens));
  return issued;
}

Result<Token> TokenFile::revoke(const std::string& id) const {
  const os::FileLock alone = TRY(lock(path_));
  std::vector<Token> tokens = TRY(read());
  const auto row = TRY(row_of(tokens, id));
  Token gone = *row;
  tokens.erase(row);
  TRY(write(tokens));
  return gone;
}

Result<IssuedToken> TokenFile::rotate(const std::string& id, Nanos now) const {
  const os::FileLock alone = TRY(lock(path_));
  std::vector<Token> tokens = TRY(read());
  const auto row = TRY(row_of(tokens, id));
  const Nanos lasts = row->expires == Nanos{} ? Nanos{} : row->expires - row->made;
  IssuedToken issued = TRY(issue_token(row->name, row->role, now, lasts));
  *row = issued.token;
  TRY(write(tokens));
  return issued;
}

std::string random_key() { return os::random_hex(kSecretDigits); }

const Token* token_for(const std::vector<Token>& tokens, std::string_view text, Nanos now) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const std::string hash = sha256_hex(text.substr(dot + 1));
  for (const Token& token : tokens) {
    if (token.id != text.substr(0, dot) || !equal_secretly(token.hash, hash)) continue;
    return token.expires == Nanos{} || now < token.expires ? &token : nullptr;
  }
  return nullptr;
}

}  // namespace amdahl::app
