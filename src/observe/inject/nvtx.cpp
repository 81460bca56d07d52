// NVTX ranges: NVTX loads this library when NVTX_INJECTION64_PATH names it and hands over a table
// of functions to fill in. The layouts below are those of NVTX's public ABI (versions 2 and 3).
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "recorder.h"

namespace amdahl::inject {
namespace {

struct Attributes {  // nvtxEventAttributes_v2.
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  const void* message;
};

constexpr std::int32_t kAscii = 1;
constexpr std::int32_t kUnicode = 2;
constexpr std::int32_t kRegistered = 3;

constexpr const char* kCategory = "user_annotation";
constexpr std::size_t kDeepest = 1000;

struct Open {
  std::string name;
  std::int64_t start = 0;
  std::int64_t thread = 0;
};

std::string narrow(const wchar_t* text) {
  std::string out;
  for (; text && *text; ++text) out += *text < 0x80 ? static_cast<char>(*text) : '?';
  return out;
}

std::string message_of(const Attributes* attributes) {
  if (!attributes || !attributes->message) return "range";
  switch (attributes->message_type) {
    case kAscii:
      return static_cast<const char*>(attributes->message);
    case kUnicode:
      return narrow(static_cast<const wchar_t*>(attributes->message));
    case kRegistered:
      return *static_cast<const std::string*>(attributes->message);
    default:
      return "range";
  }
}

// Open ranges of this thread, by domain: each domain has its own stack.
std::map<void*, std::vector<Open>>& stacks() {
  thread_local std::map<void*, std::vector<Open>> of_thread;
  return of_thread;
}

int push(void* domain, std::string name) {
  std::vector<Open>& stack = stacks()[domain];
  if (stack.size() < kDeepest) stack.push_back({std::move(name), now(), thread_id()});
  return static_cast<int>(stack.size()) - 1;
}

int pop(void* domain) {
  std::vector<Open>& stack = stacks()[domain];
  if (stack.empty()) return -1;
  record(HostCall{stack.back().name, kCategory, stack.back().start, now(), 0, 0});
  stack.pop_back();
  return static_cast<int>(stack.size());
}

struct Ranges {
  std::mutex mutex;
  std::map<std::uint64_t, Open> open;
  std::uint64_t last = 0;
};

Ranges& ranges() {
  static Ranges& one = *new Ranges;
  return one;
}

std::uint64_t begin(std::string name) {
  const std::scoped_lock lock(ranges().mutex);
  const std::uint64_t id = ++ranges().last;
  ranges().open[id] = {std::move(name), now(), thread_id()};
  return id;
}

void end(std::uint64_t id) {
  const std::scoped_lock lock(ranges().mutex);
  const auto at = ranges().open.find(id);
  if (at == ranges().open.end()) return;
  record(HostCall{at->second.name, kCategory, at->second.start, now(), 0, at->second.thread});
  ranges().open.erase(at);
}

// The functions of modules CORE (1) and CORE2 (5), by their numbers in NVTX.
int push_ex(const Attributes* a) { return push(nullptr, message_of(a)); }
int push_a(const char* text) { return push(nullptr, text ? text : "range"); }
int push_w(const wchar_t* text) { return push(nullptr, narrow(text)); }
int pop_plain() { return pop(nullptr); }
std::uint64_t start_ex(const Attributes* a) { return begin(message_of(a)); }
std::uint64_t start_a(const char* text) { return begin(text ? text : "range"); }
std::uint64_t start_w(const wchar_t* text) { return begin(narrow(text)); }
void end_plain(std::uint64_t id) { end(id); }
std::uint64_t domain_start(void*, const Attributes* a) { return begin(message_of(a)); }
void domain_end(void*, std::uint64_t id) { end(id); }
int domain_push(void* domain, const Attributes* a) { return push(domain, message_of(a)); }
int domain_pop(void* domain) { return pop(domain); }
// Strings and domains live as long as the process: a handle may be used at any time.
void* register_a(void*, const char* text) { return new std::string(text ? text : ""); }
void* register_w(void*, const wchar_t* text) { return new std::string(narrow(text)); }
void* create_a(const char* name) { return new std::string(name ? name : ""); }
void* create_w(const wchar_t* name) { return new std::string(narrow(name)); }

using Function = void (*)();

struct Row {
  int module;
  unsigned number;
  Function function;
};

template <class F>
Function plain(F* function) {
  return reinterpret_cast<Function>(function);
}

std::vector<Row> rows() {
  return {
      {1, 4, plain(start_ex)},    {1, 5, plain(start_a)},     {1, 6, plain(start_w)},
      {1, 7, plain(end_plain)},   {1, 8, plain(push_ex)},     {1, 9, plain(push_a)},
      {1, 10, plain(push_w)},     {1, 11, plain(pop_plain)},  {5, 2, plain(domain_start)},
      {5, 3, plain(domain_end)},  {5, 4, plain(domain_push)}, {5, 5, plain(domain_pop)},
      {5, 10, plain(register_a)}, {5, 11, plain(register_w)}, {5, 12, plain(create_a)},
      {5, 13, plain(create_w)},
  };
}

struct Callbacks {  // NvtxExportTableCallbacks.
  std::size_t struct_size;
  int (*table_of)(int module, Function*** table, unsigned* size);
};

}  // namespace
}  // namespace amdahl::inject

// What NVTX calls once, when a job first uses it. 1: we are in.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    const void* (*export_table)(std::uint32_t)) {
  using namespace amdahl::inject;
  if (!recording() || !export_table) return 0;
  const auto* callbacks = static_cast<const Callbacks*>(export_table(1));
  if (!callbacks || callbacks->struct_size < sizeof(Callbacks)) return 0;
  for (const Row& row : rows()) {
    Function** table = nullptr;
    unsigned size = 0;
    if (callbacks->table_of(row.module, &table, &size) == 0 || !table) continue;
    if (row.number < size && table[row.number]) *table[row.number] = row.function;
  }
  return 1;
}
