// observed.h: a value that was observed, is absent, or could not be read.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace amdahl::model {

struct ArmFact;
struct FileDigest;
struct PairFact;
struct Receipt;

enum class Sight { kAbsent, kObserved, kUnreadable };

// Evidence on its way from the observer to the check. A value that was not observed does not
// exist, and two such values are not equal: use same(), which has no answer unless both were
// observed.
template <class T>
class Observed {
 public:
  Observed() = default;  // Absent.
  Observed(std::nullopt_t) {}
  Observed(std::optional<T> value) {
    if (value) *this = Observed(*std::move(value));
  }
  template <class U = T>
  requires(!std::same_as<std::remove_cvref_t<U>, Observed> && std::constructible_from<T, U>)
      Observed(U&& value)
      : sight_{Sight::kObserved}, value_(std::forward<U>(value)) {
    // An empty digest, fingerprint or host means absent: older records have no other way to say
    // it.
    if constexpr (std::same_as<T, std::string>) {
      if (value_.empty()) sight_ = Sight::kAbsent;
    }
  }
  // `why` is for people: "nothing matches data/*.bin".
  static Observed absent(std::string why) { return {Sight::kAbsent, std::move(why)}; }
  static Observed unreadable(std::string why) { return {Sight::kUnreadable, std::move(why)}; }

  Sight sight() const { return sight_; }
  bool has_value() const { return sight_ == Sight::kObserved; }
  // Not for bool: "was it observed" and "is it true" would look alike.
  explicit operator bool() const requires(!std::same_as<T, bool>) { return has_value(); }
  const T& operator*() const { return value_; }  // Only if observed.
  std::optional<T> seen() const { return has_value() ? std::optional<T>(value_) : std::nullopt; }
  T value_or(T other) const { return has_value() ? value_ : std::move(other); }
  const std::string& why() const { return why_; }  // Empty if observed, or if no reason is known.
  void reset() { *this = {}; }

  // Whether it was observed and equals the value.
  template <class U>
  requires(!std::same_as<U, Observed> && std::equality_comparable_with<T, U>) friend bool
  operator==(const Observed& observed, const U& value) {
    return observed.has_value() && observed.value_ == value;
  }

 private:
  Observed(Sight sight, std::string why) : sight_{sight}, why_{std::move(why)} {}

  // Equality of two records, for comparing whole objects only. Says nothing about what was
  // observed.
  bool operator==(const Observed&) const = default;
  friend ArmFact;
  friend FileDigest;
  friend PairFact;
  friend Receipt;

  Sight sight_ = Sight::kAbsent;
  T value_{};
  std::string why_;
};

// Whether the two values are equal; nothing unless both were observed.
template <class T>
std::optional<bool> same(const Observed<T>& a, const Observed<T>& b) {
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  return *a == *b;
}

}  // namespace amdahl::model
