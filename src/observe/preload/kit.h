// kit.h: what a fix that is compiled into the preload library can ask and must report.
#pragma once

#include <atomic>

namespace amdahl::preload {

// One fix in this process. Uses no C++ runtime: the job may have another one.
class Fix {
 public:
  explicit constexpr Fix(const char* name) : name_{name} {}

  // Whether AMDAHL_FIXES asks for it.
  bool is_wanted() const;
  // Records that the fix acted; `what`, a literal, is for people.
  void engaged(const char* what);
  // Records that it did not act, and why: a literal.
  void refuse(const char* why);

 private:
  friend void write_accounts();

  const char* name_;
  Fix* next_ = nullptr;
  std::atomic<bool> listed_{false};
  std::atomic<long> times_{0};
  std::atomic<const char*> what_{""};
  std::atomic<const char*> refused_{""};

  void list();
};

// The next definition of a function after this library.
void* find_next(const char* name);
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(find_next(name));
}

// Writes the accounts of all fixes of this process to AMDAHL_FIXES_OUT.
void write_accounts();

}  // namespace amdahl::preload
