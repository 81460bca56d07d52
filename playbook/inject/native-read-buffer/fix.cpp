// Files that stdio or an std::ifstream reads get a buffer of 1 MiB, and the kernel is told that
// they are read from front to back.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>

#include "kit.h"

namespace {

using amdahl::preload::next;

constexpr std::size_t kBuffer = 1 << 20;
constexpr off_t kLarge = 256 * 1024;  // Smaller files gain nothing.
constexpr int kStreams = 64;          // Whose buffers are kept until the end.

amdahl::preload::Fix fix("native-read-buffer");

struct Kept {
  std::atomic<FILE*> file{nullptr};
  char* buffer = nullptr;
};
Kept kept[kStreams];

thread_local bool in_stream = false;  // A stream opens its file by fopen, and has its own buffer.

bool is_wanted() {
  static const bool wanted = fix.is_wanted();
  return wanted;
}

bool is_large(const struct stat& about) {
  return S_ISREG(about.st_mode) && about.st_size >= kLarge;
}

FILE* with_buffer(FILE* file, const char* mode) {
  struct stat about {};
  const bool reads = mode[0] == 'r' && std::strchr(mode, '+') == nullptr;
  if (file == nullptr || in_stream || !reads || !is_wanted() ||
      ::fstat(::fileno(file), &about) != 0)
    return file;
  if (!is_large(about)) return file;
  for (Kept& one : kept) {
    FILE* none = nullptr;
    if (!one.file.compare_exchange_strong(none, file)) continue;
    if (one.buffer == nullptr) one.buffer = static_cast<char*>(std::malloc(kBuffer));
    if (one.buffer == nullptr || ::setvbuf(file, one.buffer, _IOFBF, kBuffer) != 0) {
      one.file = nullptr;
      return file;
    }
    ::posix_fadvise(::fileno(file), 0, 0, POSIX_FADV_SEQUENTIAL);
    fix.engaged("fopen");
    break;
  }
  return file;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

FILE* fopen(const char* path, const char* mode) {
  static auto* const real = next<FILE*(const char*, const char*)>("fopen");
  return with_buffer(real(path, mode), mode);
}

FILE* fopen64(const char* path, const char* mode) {
  static auto* const real = next<FILE*(const char*, const char*)>("fopen64");
  return with_buffer(real(path, mode), mode);
}

int fclose(FILE* file) {
  static auto* const real = next<int(FILE*)>("fclose");
  const int closed = real(file);
  for (Kept& one : kept) {
    FILE* own = file;
    if (one.file.compare_exchange_strong(own, nullptr)) break;
  }
  return closed;
}

// std::filebuf::open(const char*, openmode). The buffer must be set before; it is never freed.
void* _ZNSt13basic_filebufIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode(void* stream,
                                                                          const char* path,
                                                                          int mode) {
  constexpr int kIn = 8;    // std::ios::in,
  constexpr int kOut = 16;  // std::ios::out.
  static auto* const real = next<void*(void*, const char*, int)>(
      "_ZNSt13basic_filebufIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode");
  static auto* const set_buffer =
      next<void*(void*, char*, long)>("_ZNSt13basic_filebufIcSt11char_traitsIcEE6setbufEPcl");
  static std::atomic<int> streams{0};
  struct stat about {};
  const bool reads = (mode & kIn) != 0 && (mode & kOut) == 0;
  const bool large = reads && is_wanted() && ::stat(path, &about) == 0 && is_large(about);
  if (large && set_buffer != nullptr && streams.fetch_add(1) < kStreams) {
    if (char* buffer = static_cast<char*>(std::malloc(kBuffer))) {
      set_buffer(stream, buffer, kBuffer);
      fix.engaged("std::ifstream");
    }
  }
  in_stream = true;
  void* const opened = real(stream, path, mode);
  in_stream = false;
  return opened;
}

}  // extern "C"
#pragma GCC visibility pop
