// result.h: a value, or an Error that says what failed and where.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"

namespace amdahl {

struct Error {
  // For code to branch on. Add a kind only when a caller acts on it.
  enum class Kind : std::uint8_t {
    kBadInput,     // Wrong input from a person or a job: exit 2, or a void pair.
    kNotFound,     // The named thing does not exist: exit 1.
    kUnsupported,  // Not possible here: exit 3; `amdahl doctor` may help.
    kExternal,     // Disk, process or network failed: exit 3.
    kConflict,     // The ledger forbids it, for example a used key.
    kBudget,       // Would exceed the budget: exit 4.
    kBusy,         // Another cycle holds the lease: exit 5.
  };

  Kind kind;
  std::string text;  // For people. Lower case, no full stop.
};

struct Ok {};

template <class T = Ok>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_{std::in_place_index<0>, std::move(value)} {}
  Result(Error error) : state_{std::in_place_index<1>, std::move(error)} {}

  explicit operator bool() const { return state_.index() == 0; }

  const T& operator*() const& { return value(); }
  T operator*() && {
    CHECK(*this);
    return std::get<0>(std::move(state_));
  }  // Nothing dangles.
  const T* operator->() const { return &value(); }

  const Error& error() const {
    CHECK(!*this);
    return std::get<1>(state_);
  }

  // Adds context, outermost first: "ingest run 7: kineto: byte 812: ts is missing".
  Result in(std::string_view where) && {
    if (*this) return std::move(*this);
    Error e = error();
    e.text.insert(0, std::string(where) + ": ");
    return e;
  }

 private:
  const T& value() const {
    CHECK(*this);
    return std::get<0>(state_);
  }

  std::variant<T, Error> state_;
};

// Short forms of the two most common errors.
inline Error bad_input(std::string text) { return {Error::Kind::kBadInput, std::move(text)}; }
inline Error external(std::string text) { return {Error::Kind::kExternal, std::move(text)}; }

}  // namespace amdahl

// The value of `expression`; on error, returns the error from this function.
#define TRY(expression)                         \
  __extension__({                               \
    auto try_result = (expression);             \
    if (!try_result) return try_result.error(); \
    *std::move(try_result);                     \
  })
