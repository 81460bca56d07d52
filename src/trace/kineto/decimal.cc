#include "trace/kineto/decimal.h"

#include <charconv>
#include <limits>

#include "base/text.h"

namespace amdahl::trace::kineto {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();

std::string_view bare(std::string_view token) {
  const auto edge = [](char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '"';
  };
  while (!token.empty() && edge(token.front())) token.remove_prefix(1);
  while (!token.empty() && edge(token.back())) token.remove_suffix(1);
  return token;
}

// A decimal number as digits, without its point: value = digits * 10^exponent.
struct Decimal {
  bool negative = false;
  std::uint64_t digits = 0;
  std::int64_t exponent = 0;
};

// Digits of `text` from `at` on into `number`; those that no longer fit only shift the exponent.
std::size_t read_digits(std::string_view text, std::size_t at, bool fraction, Decimal& number) {
  const std::size_t start = at;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    const auto digit = static_cast<std::uint64_t>(text[at] - '0');
    if (number.digits > (UINT64_MAX - digit) / 10) {
      if (!fraction) ++number.exponent;
      continue;
    }
    number.digits = number.digits * 10 + digit;
    if (fraction) --number.exponent;
  }
  return at - start;
}

std::optional<Decimal> read_decimal(std::string_view text) {
  Decimal number;
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) number.negative = text[at++] == '-';
  std::size_t count = read_digits(text, at, false, number);
  at += count;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = read_digits(text, at + 1, true, number);
    at += 1 + fraction;
    count += fraction;
  }
  if (count == 0) return {};
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    if (++at < text.size() && text[at] == '+') ++at;
    std::int32_t exponent = 0;
    const char* const end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data() + at, end, exponent);
    if (error != std::errc{}) return {};
    number.exponent += exponent;
    at = static_cast<std::size_t>(next - text.data());
  }
  if (at != text.size()) return {};
  return number;
}

// digits * 10^shift, rounded half up where digits fall off.
std::optional<std::uint64_t> shifted(std::uint64_t digits, std::int64_t shift) {
  for (; shift > 0 && digits != 0; --shift) {
    if (digits > UINT64_MAX / 10) return {};
    digits *= 10;
  }
  std::uint64_t last = 0;
  for (; shift < 0 && (digits != 0 || last != 0); ++shift) {
    last = digits % 10;
    digits /= 10;
  }
  return digits + (last >= 5 ? 1 : 0);
}

std::optional<std::int64_t> with_sign(const Decimal& number, std::optional<std::uint64_t> value) {
  if (!value || *value > kMost) return {};
  const auto plain = static_cast<std::int64_t>(*value);
  return number.negative ? -plain : plain;
}

// Up to 16 digits, a point, and up to three: all that Kineto writes. False if it is not that.
bool plain_nanos(std::string_view token, std::int64_t& nanos) {
  std::size_t at = 0;
  std::int64_t value = 0;
  if (token.size() > 40) return false;
  for (; at < token.size() && is_digit(token[at]) && at < 17; ++at) {
    value = value * 10 + (token[at] - '0');
  }
  if (at == 0 || at > 16 || (at == 16 && token[0] == '9')) return false;
  int decimals = 0;
  if (at < token.size() && token[at] == '.') {
    for (++at; at < token.size() && is_digit(token[at]) && decimals < 3; ++at, ++decimals) {
      value = value * 10 + (token[at] - '0');
    }
  }
  while (at < token.size() && (token[at] == ' ' || token[at] == '\n')) ++at;
  if (at != token.size()) return false;
  constexpr std::int64_t kScale[] = {1000, 100, 10, 1};
  nanos = value * kScale[decimals];
  return true;
}

// Up to 18 digits and white space after them: nearly all ids.
bool plain_integer(std::string_view token, std::int64_t& value) {
  std::size_t at = 0;
  for (; at < token.size() && is_digit(token[at]) && at < 19; ++at) {
    value = value * 10 + (token[at] - '0');
  }
  if (at == 0 || at > 18) return false;
  while (at < token.size() && (token[at] == ' ' || token[at] == '\n')) ++at;
  return at == token.size();
}

}  // namespace

std::optional<std::int64_t> nanos_of(std::string_view token) {
  std::int64_t nanos = 0;
  if (plain_nanos(token, nanos)) return nanos;
  const std::optional<Decimal> number = read_decimal(bare(token));
  if (!number) return {};
  return with_sign(*number, shifted(number->digits, number->exponent + 3));
}

std::optional<std::int64_t> integer_of(std::string_view token) {
  std::int64_t plain = 0;
  if (token.size() < 32 && plain_integer(token, plain)) return plain;
  const std::string_view text = bare(token);
  if (text.starts_with("0x")) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data() + 2, end, value, 16);
    if (error != std::errc{} || next != end || value > kMost) return {};
    return static_cast<std::int64_t>(value);
  }
  std::optional<Decimal> number = read_decimal(text);
  if (!number) return {};
  for (; number->exponent < 0 && number->digits != 0; ++number->exponent) number->digits /= 10;
  return with_sign(*number, shifted(number->digits, number->exponent));
}

std::optional<double> real_of(std::string_view token) {
  const std::string_view text = bare(token);
  double value = 0;
  const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || next != text.data() + text.size()) return {};
  if (!(value - value == 0)) return {};  // Infinite or NaN.
  return value;
}

}  // namespace amdahl::trace::kineto
