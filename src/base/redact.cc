#include "base/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace amdahl {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_alnum(char c) { return is_upper(c) || is_lower(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_name_char(char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.'; }
bool is_token_char(char c) { return is_alnum(c) || c == '_' || c == '-'; }

template <std::size_t kCount>
bool is_one_of(std::string_view word, const std::array<std::string_view, kCount>& words) {
  return std::ranges::find(words, word) != words.end();
}

// "AWS_SECRET_ACCESS_KEY", "--api-key" and "accessToken" as lower-case words.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  char before = '_';
  for (const char c : name) {
    const bool hump = is_upper(c) && is_lower(before);
    if ((hump || !is_alnum(c)) && !words.back().empty()) words.emplace_back();
    if (is_alnum(c)) words.back() += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
    before = c;
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// A word that marks a name as secret wherever it occurs.
bool is_secret_word(std::string_view word) {
  constexpr std::array<std::string_view, 20> kWords = {
      "secret",     "secrets",     "password",        "passwords", "passwd",
      "pswd",       "passcode",    "passphrase",      "apikey",    "apikeys",
      "credential", "credentials", "authorization",   "secretkey", "privatekey",
      "accesskey",  "accountkey",  "sharedaccesskey", "authtoken", "cookie"};
  return is_one_of(word, kWords) || word.ends_with("password") || word.ends_with("passwd") ||
         word.ends_with("apikey") || word.ends_with("secret");
}

// "key" is a secret only with a qualifier: hypotheses, caches and monkeys have keys too.
bool opens_something(std::string_view word) {
  constexpr std::array<std::string_view, 37> kWords = {
      "api",          "access",     "private", "secret",  "signing", "encryption", "ssh",
      "account",      "auth",       "master",  "service", "deploy",  "storage",    "openai",
      "azure",        "anthropic",  "wandb",   "hf",      "comet",   "neptune",    "client",
      "subscription", "admin",      "hmac",    "aes",     "rsa",     "gpg",        "tls",
      "ssl",          "jwt",        "webhook", "vault",   "license", "consumer",   "crypto",
      "cipher",       "huggingface"};
  return is_one_of(word, kWords);
}

// In capitals, AZURE_OPENAI_KEY or STRIPE_KEY: a variable, and secret unless it sorts or finds.
bool finds_something(std::string_view word) {
  constexpr std::array<std::string_view, 27> kWords = {
      "cache",  "sort",   "primary", "foreign", "partition", "group",   "dict",
      "hash",   "lookup", "join",    "public",  "index",     "row",     "column",
      "order",  "map",    "config",  "metric",  "label",     "feature", "registry",
      "record", "input",  "output",  "image",   "text",      "target"};
  return is_one_of(word, kWords);
}

bool is_in_capitals(std::string_view name) {
  return name.find('_') != name.npos && std::ranges::none_of(name, is_lower);
}

// Tokens of a language model are no secrets: "eos_token", "token_count", "next_token".
bool is_model_token(std::string_view before, std::string_view after) {
  constexpr std::array<std::string_view, 19> kBefore = {
      "eos", "bos", "pad",  "unk",  "mask",  "sep",    "cls",     "special", "num",    "max",
      "min", "per", "next", "stop", "image", "masked", "fencing", "lease",   "special"};
  constexpr std::array<std::string_view, 31> kAfter = {
      "count",     "counts",     "id",      "ids",     "type",        "types",
      "limit",     "budget",     "length",  "len",     "size",        "rate",
      "usage",     "per",        "level",   "file",    "path",        "dim",
      "embedding", "embeddings", "mask",    "index",   "idx",         "accuracy",
      "loss",      "dropout",    "pruning", "merging", "parallelism", "classification",
      "expires"};
  return is_one_of(before, kBefore) || is_one_of(after, kAfter);
}

bool is_authorization(std::string_view name) { return lower(name).ends_with("authorization"); }

}  // namespace

bool names_a_secret(std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::string_view before = i > 0 ? std::string_view(words[i - 1]) : "";
    const std::string_view after = i + 1 < words.size() ? std::string_view(words[i + 1]) : "";
    const bool last = i + 1 == words.size();
    if (is_secret_word(word)) return true;
    if (word.ends_with("token") && !is_model_token(before, after)) return true;
    if ((word == "key" || word == "keys") && opens_something(before)) return true;
    if (last && i > 0 && word == "key" && is_in_capitals(name) && !finds_something(before)) {
      return true;
    }
    // PWD alone is the working directory, and PAT is short for much else.
    if (last && i > 0 && (word == "pwd" || word == "pat" || word == "pass")) return true;
  }
  return false;
}

bool is_reference(std::string_view text) {
  constexpr std::string_view kOpen = "{env:";
  if (!text.starts_with(kOpen) || !text.ends_with('}')) return false;
  const std::string_view name = text.substr(kOpen.size(), text.size() - kOpen.size() - 1);
  return !name.empty() && !is_digit(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_alnum(c) || c == '_'; });
}

namespace {

bool is_whole_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

// "$HF_TOKEN" or "${HF_TOKEN}" for a shell, or our own syntax: a reference to a secret, not the
// secret.
bool points_elsewhere(std::string_view value) {
  if (is_reference(value)) return true;
  if (value.starts_with("${") && value.ends_with('}')) {
    value = value.substr(2, value.size() - 3);
  } else if (value.starts_with('$')) {
    value.remove_prefix(1);
  } else {
    return false;
  }
  return !value.empty() &&
         std::ranges::all_of(value, [](char c) { return is_upper(c) || is_digit(c) || c == '_'; });
}

// Names that mean a secret only with a value that could be one: --key, Pwd, sig.
bool is_doubtful(std::string_view name, std::string_view value) {
  const std::vector<std::string> words = words_of(name);
  if (words.size() != 1) return false;
  const std::string_view word = words.front();
  // In a connection string; else it is the working folder.
  if (word == "pwd") {
    return !value.empty() && std::string_view("/~.").find(value.front()) == std::string_view::npos;
  }
  if (word == "sig") return value.size() >= 20;
  const bool flag = name.starts_with('-') && (word == "key" || word == "pass" || word == "pw");
  return flag && value.size() >= 6 && !is_whole_number(value);
}

// Whether the value of this name must be hidden.
bool is_secret(std::string_view name, std::string_view value) {
  if (value.empty() || points_elsewhere(value)) return false;
  if (!names_a_secret(name)) return is_doubtful(name, value);
  const bool counts = lower(name).find("token") != std::string::npos;
  return !(counts && is_whole_number(value) && value.size() <= 5);
}

bool takes_a_user(std::string_view flag) {
  return flag == "-u" || flag == "-U" || flag == "--user" || flag == "--proxy-user";
}

// Before its value is looked for, which may be long.
bool may_name_a_secret(std::string_view name) {
  constexpr std::array<std::string_view, 5> kDoubtful = {"pwd", "sig", "key", "pass", "pw"};
  const std::string_view bare = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  return takes_a_user(name) || is_one_of(lower(bare), kDoubtful) || names_a_secret(name);
}

// Start of the password in "user:password" after -u or --user; nothing if it is a group or a port.
std::optional<std::size_t> password_in(std::string_view name, std::string_view value) {
  if (!takes_a_user(name)) return std::nullopt;
  const std::size_t colon = value.find(':');
  if (colon == value.npos || colon == 0) return std::nullopt;
  const std::string_view password = value.substr(colon + 1);
  const bool plain = password.empty() || is_whole_number(password) || password.starts_with("//") ||
                     password == kRedacted || points_elsewhere(password);
  if (plain || value.substr(0, colon).find('/') != value.npos) return std::nullopt;
  return colon + 1;
}

// A credential that is known by how it starts.
struct Shape {
  std::string_view prefix;
  std::size_t least;  // Characters after the prefix.
  bool (*allows)(char) = is_token_char;
  bool wants_digit = true;  // Words of a language may start so too, but have no digits.
};

bool is_in_address(char c) { return is_token_char(c) || c == '/'; }

constexpr auto kShapes = std::to_array<Shape>({
    {"sk-", 16},
    {"sk_live_", 12},
    {"sk_test_", 12},
    {"rk_live_", 12},
    {"ghp_", 20},
    {"gho_", 20},
    {"ghu_", 20},
    {"ghs_", 20},
    {"ghr_", 20},
    {"github_pat_", 20},
    {"glpat-", 16},
    {"AKIA", 16, [](char c) { return is_upper(c) || is_digit(c); }},
    {"ASIA", 16, [](char c) { return is_upper(c) || is_digit(c); }},
    {"AIza", 30},
    {"hf_", 20},
    {"nvapi-", 20},
    {"npm_", 30},
    {"pypi-", 30},
    {"xoxa-", 10},
    {"xoxb-", 10},
    {"xoxp-", 10},
    {"xoxr-", 10},
    {"xoxs-", 10},
    {"xapp-", 10},
    {"ya29.", 20},
    {"hvs.", 20},
    // Addresses that let whoever knows them in.
    {"hooks.slack.com/services/", 20, is_in_address},
    {"discord.com/api/webhooks/", 20, is_in_address},
});

// Copies a text without its secrets. A look-ahead stops at a blank or after this many characters,
// so that the time is linear.
constexpr std::size_t kLongest = 1024;

class Scrubber {
 public:
  explicit Scrubber(std::string_view text, bool is_code = false) : text_(text), is_code_(is_code) {}

  std::string run() {
    while (at_ < text_.size()) {
      const bool starts_name =
          is_name_char(text_[at_]) && !(at_ > 0 && is_name_char(text_[at_ - 1]));
      const bool starts_word = is_alnum(text_[at_]) && !(at_ > 0 && is_alnum(text_[at_ - 1]));
      if (key_block() || (starts_word && (shaped() || web_token() || bearer())) ||
          (starts_name && named_value()) || url()) {
        continue;
      }
      out_ += text_[at_++];
    }
    return std::move(out_);
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }

  // Copies up to `from` and writes the mark in place of [from, to).
  bool hide(std::size_t from, std::size_t to) {
    out_ += text_.substr(at_, from - at_);
    out_ += kRedacted;
    at_ = to;
    return true;
  }

  template <class Allows>
  std::size_t end_of(std::size_t from, const Allows& allows,
                     std::size_t at_most = std::string_view::npos) const {
    const std::size_t stop = from + std::min(at_most, text_.size() - from);
    while (from < stop && allows(text_[from])) ++from;
    return from;
  }

  bool key_block() {
    constexpr std::string_view kBegin = "-----BEGIN ";
    constexpr std::string_view kKind = "PRIVATE KEY";
    if (!rest().starts_with(kBegin)) return false;
    const std::size_t kind = text_.substr(0, at_ + 80).find(kKind, at_);
    if (kind == text_.npos) return false;
    const std::size_t end = text_.find("-----END ", kind);
    const std::size_t close = end == text_.npos ? end : text_.find("-----", end + 9);
    return hide(at_, close == text_.npos ? text_.size() : close + 5);  // Cut off: all of it.
  }

  bool shaped() {
    for (const Shape& shape : kShapes) {
      if (!rest().starts_with(shape.prefix)) continue;
      const std::size_t start = at_ + shape.prefix.size();
      const std::size_t end = end_of(start, shape.allows, kLongest);
      const std::string_view tail = text_.substr(start, end - start);
      if (tail.size() < shape.least) continue;
      if (shape.wants_digit && std::ranges::none_of(tail, is_digit)) continue;
      return hide(at_, end_of(end, shape.allows));
    }
    return false;
  }

  bool web_token() {  // header.claims.signature, each Base64 of JSON or bytes.
    if (!rest().starts_with("eyJ")) return false;
    const std::size_t first = end_of(at_, is_token_char, kLongest);
    if (first - at_ < 10 || !text_.substr(first).starts_with(".eyJ")) return false;
    const std::size_t second = end_of(first + 1, is_token_char);
    if (second >= text_.size() || text_[second] != '.') return hide(at_, second);
    return hide(at_, end_of(second + 1, is_token_char));
  }

  bool bearer() {
    constexpr std::string_view kWord = "bearer ";
    if (lower(rest().substr(0, kWord.size())) != kWord) return false;
    const std::size_t start = end_of(at_ + kWord.size(), is_blank);
    const std::size_t end = end_of(start, [](char c) {
      return is_token_char(c) || c == '.' || c == '+' || c == '/' || c == '=' || c == '~';
    });
    if (end - start < 8) return false;
    return hide(start, end);
  }

  // Where the value of the name that ends at `end` begins, if one follows.
  std::optional<std::size_t> value_after(std::size_t end, bool is_flag) const {
    std::size_t next = end;
    if (next < text_.size() && text_[next] == '\\') ++next;  // A quote inside a quoted text.
    if (next < text_.size() && (text_[next] == '"' || text_[next] == '\'')) ++next;
    const std::size_t mark = end_of(next, is_blank);
    if (mark >= text_.size()) return std::nullopt;
    if (text_[mark] == '=' || text_[mark] == ':') return end_of(mark + 1, is_blank);
    if (is_flag && mark > next && !(text_[mark] == '-' && text_.substr(mark, 2) == "--")) {
      return mark;
    }
    return std::nullopt;
  }

  // NAME=value, name: "value", --name value.
  bool named_value() {
    const std::size_t end = end_of(at_, is_name_char);
    const std::string_view name = text_.substr(at_, end - at_);
    if (name.ends_with("-----BEGIN") || !may_name_a_secret(name)) return false;
    std::optional<std::size_t> start = value_after(end, name.starts_with('-'));
    if (!start || *start >= text_.size()) return false;
    std::string quote;
    if (text_[*start] == '\\') quote = text_.substr((*start)++, 1);
    if (*start < text_.size() && (text_[*start] == '"' || text_[*start] == '\'')) {
      quote += text_[(*start)++];
    }
    const std::string_view tail = text_.substr(*start);
    if (tail.starts_with(kRedacted)) return false;
    const std::size_t stop = value_end(*start, quote, is_authorization(name));
    std::string_view value = text_.substr(*start, stop - *start);
    // The end of a reference is not the end of the value around it.
    const bool opened = quote.empty() && value.find('{') != value.npos;
    if (opened && stop < text_.size() && text_[stop] == '}')
      value = tail.substr(0, value.size() + 1);
    if (const auto password = password_in(name, value)) {
      out_ += text_.substr(at_, *start - at_);
      at_ = *start;
      return hide(*start + *password, stop);
    }
    if (!is_secret(name, value) || (is_code_ && !is_literal(quote, value))) return false;
    if (is_authorization(name) && refers(value)) return false;
    out_ += Scrubber(name).run();  // A name may itself be made of secrets.
    out_ += text_.substr(end, *start - end);
    at_ = *start;
    return key_block() || hide(*start, stop);
  }

  // "Bearer {env:TOKEN}".
  static bool refers(std::string_view value) {
    return points_elsewhere(value.substr(value.find(' ') + 1));
  }

  // In source code, unquoted text is an expression, and "<s>" a mark.
  static bool is_literal(const std::string& quote, std::string_view value) {
    return !quote.empty() && value.size() >= 6 && is_alnum(value.front());
  }

  std::size_t value_end(std::size_t start, const std::string& quote, bool whole_line) const {
    if (!quote.empty()) {
      for (std::size_t i = start; i < text_.size(); ++i) {
        if (text_.substr(i).starts_with(quote)) return i;
        if (text_[i] == '\\') ++i;
      }
      return text_.size();
    }
    const std::string_view stops = whole_line ? "\r\n\"'" : " \t\r\n\"',;&<>)}";
    return std::min(text_.find_first_of(stops, start), text_.size());
  }

  bool url() {  // scheme://user:password@host
    if (!rest().starts_with("://")) return false;
    const std::string_view tail = text_.substr(at_ + 3);
    const std::string_view authority = tail.substr(0, tail.find_first_of("/ \t\r\n\"'<>?#"));
    const std::size_t host = authority.rfind('@');
    if (host == authority.npos) return false;
    const std::string_view user = authority.substr(0, host);
    const std::size_t colon = user.find(':');
    const bool alone = colon == user.npos;
    if (alone && user.size() < 20) return false;  // "git@" is a name, not a token.
    const std::string_view secret = alone ? user : user.substr(colon + 1);
    if (secret.empty() || secret == kRedacted || points_elsewhere(secret)) return false;
    const std::size_t end = at_ + 3 + host;
    return hide(end - secret.size(), end);
  }

  std::string_view text_;
  bool is_code_ = false;
  std::size_t at_ = 0;
  std::string out_;
};

// Booleans and token counts stay: they are not credentials. The value as it may be shown, or
// nothing if the name is not a secret.
std::optional<Json> hide_value(const std::string& name, const Json& value) {
  if (value.is_null() || value.is_boolean()) return value;
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (const auto password = password_in(name, text)) {
      return text.substr(0, *password) + std::string(kRedacted);
    }
    if (is_authorization(name) && text.find(' ') != text.npos &&
        points_elsewhere(text.substr(text.find(' ') + 1))) {
      return value;
    }
    if (is_secret(name, text)) return std::string(kRedacted);
    if (!names_a_secret(name)) return std::nullopt;
    return value;
  }
  if (!names_a_secret(name)) return std::nullopt;
  if (value.is_number() && lower(name).find("token") != std::string::npos) return value;
  return std::string(kRedacted);
}

// A command line kept as a list: the word after "--password" is one.
bool may_hide_next(const Json& word) {
  if (!word.is_string()) return false;
  const std::string& text = word.get_ref<const std::string&>();
  return text.starts_with('-') && text.find('=') == text.npos;
}

bool is_diff(const std::string& text) {
  return text.starts_with("--- ") || text.find("\n--- ") != text.npos ||
         text.starts_with("diff --git ");
}

}  // namespace

std::string redact(std::string_view text) { return Scrubber(text).run(); }

Json redact(const Json& value) {
  if (value.is_string()) return redact(value.get_ref<const std::string&>());
  if (value.is_array()) {
    Json list = Json::array();
    for (std::size_t i = 0; i < value.size(); ++i) {
      std::optional<Json> hidden;
      if (i > 0 && value[i].is_string() && may_hide_next(value[i - 1])) {
        hidden = hide_value(value[i - 1].get<std::string>(), value[i]);
      }
      list.push_back(hidden ? *std::move(hidden) : redact(value[i]));
    }
    return list;
  }
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const auto& item : value.items()) {
    const Json& inner = item.value();
    if (item.key() == "patch" && inner.is_string() &&
        is_diff(inner.get_ref<const std::string&>())) {
      object[item.key()] = Scrubber(inner.get_ref<const std::string&>(), true).run();
      continue;
    }
    std::optional<Json> hidden = hide_value(item.key(), inner);
    object[item.key()] = hidden ? *std::move(hidden) : redact(inner);
  }
  return object;
}

std::optional<std::string> first_secret(const Json& value) {
  const Json shown = redact(value);
  if (shown == value) return std::nullopt;
  std::string where;
  const Json* before = &value;
  const Json* after = &shown;
  while (before->is_structured() && before->type() == after->type()) {
    auto at = before->begin();
    auto seen = after->begin();
    while (*at == *seen) ++at, ++seen;
    where += "/" + (before->is_object() ? at.key() : std::to_string(at - before->begin()));
    before = &*at;
    after = &*seen;
  }
  return where;
}

}  // namespace amdahl
