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
bool is_digit(char c) { return c >= '0' && c <= '9'; }
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

// A word that alone gives a name away, wherever it stands.
bool is_secret_word(std::string_view word) {
  constexpr std::array<std::string_view, 15> kWords = {
      "secret",     "secrets",    "password",   "passwords",   "passwd",
      "passphrase", "apikey",     "credential", "credentials", "authorization",
      "secretkey",  "privatekey", "accesskey",  "authtoken",   "cookie"};
  return is_one_of(word, kWords) || word.ends_with("password") || word.ends_with("apikey");
}

// "key" is a secret only when it says of what: hypotheses, caches and monkeys have keys too.
bool opens_something(std::string_view word) {
  constexpr std::array<std::string_view, 13> kWords = {
      "api",     "access", "private", "secret",  "signing", "encryption", "ssh",
      "account", "auth",   "master",  "service", "deploy",  "storage"};
  return is_one_of(word, kWords);
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
    // PWD alone is the working directory, and PAT is short for much else.
    if (last && i > 0 && (word == "pwd" || word == "pat" || word == "pass")) return true;
  }
  return false;
}

namespace {

// A credential that is known by how it starts.
struct Shape {
  std::string_view prefix;
  std::size_t least;  // Characters after the prefix.
  bool (*allows)(char) = is_token_char;
  bool wants_digit = true;  // Words of a language may start so too, but have no digits.
};

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
});

// Copies a text and leaves the secrets out. A look-ahead that finds nothing ends at a blank or
// after this many characters, so that the time grows with the length and no faster.
constexpr std::size_t kLongest = 1024;

class Scrubber {
 public:
  explicit Scrubber(std::string_view text) : text_(text) {}

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

  // Copies up to `from` and writes the mark in place of what lies before `to`.
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
    if (name.ends_with("-----BEGIN") || !names_a_secret(name)) return false;
    std::optional<std::size_t> start = value_after(end, name.starts_with('-'));
    if (!start || *start >= text_.size()) return false;
    std::string quote;
    if (text_[*start] == '\\') quote = text_.substr((*start)++, 1);
    if (*start < text_.size() && (text_[*start] == '"' || text_[*start] == '\'')) {
      quote += text_[(*start)++];
    }
    if (text_.substr(*start).starts_with(kRedacted)) return false;
    const std::size_t stop = value_end(*start, quote, is_authorization(name));
    if (stop == *start) return false;
    out_ += Scrubber(name).run();  // A name may itself be made of secrets.
    out_ += text_.substr(end, *start - end);
    at_ = *start;
    return key_block() || hide(*start, stop);
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
    if (secret.empty() || secret == kRedacted) return false;
    const std::size_t end = at_ + 3 + host;
    return hide(end - secret.size(), end);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

// Truths stay, and so do counts of tokens: no one keeps a credential in them.
Json hide_value(const std::string& name, const Json& value) {
  const bool counts = value.is_number() && lower(name).find("token") != std::string::npos;
  if (value.is_null() || value.is_boolean() || counts || value == "") return value;
  return std::string(kRedacted);
}

// A command line kept as a list: the word after "--password" is one.
bool hides_next(const Json& word) {
  if (!word.is_string()) return false;
  const std::string& text = word.get_ref<const std::string&>();
  return text.starts_with('-') && text.find('=') == text.npos && names_a_secret(text);
}

}  // namespace

std::string redact(std::string_view text) { return Scrubber(text).run(); }

Json redact(const Json& value) {
  if (value.is_string()) return redact(value.get_ref<const std::string&>());
  if (value.is_array()) {
    Json list = Json::array();
    for (std::size_t i = 0; i < value.size(); ++i) {
      const bool hidden = i > 0 && value[i].is_string() && hides_next(value[i - 1]);
      list.push_back(hidden ? hide_value("", value[i]) : redact(value[i]));
    }
    return list;
  }
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const auto& item : value.items()) {
    object[item.key()] =
        names_a_secret(item.key()) ? hide_value(item.key(), item.value()) : redact(item.value());
  }
  return object;
}

}  // namespace amdahl
