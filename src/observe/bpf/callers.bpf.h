// callers.bpf.h: tells call sites apart by their callers, without unwinding.
#pragma once

#include "observe/bpf/types.bpf.h"

enum { kCallerBytes = 1024, kCallerChunk = 256 };  // Bytes of the stack to examine.
enum { kCallerWords = kCallerBytes / 8 };
enum { kMostPlaces = 256 };  // Per thread; beyond this its callers are not told apart.

struct caller_words {
  __u64 words[kCallerWords];
};
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct caller_words);
} caller_words SEC(".maps");

// A hash of the addresses near the top of the stack that point into the program's own code: return
// addresses, and a few left over from earlier calls. A leftover can at worst split one site in
// two.
static __always_inline __u64 callers_of(struct waits_task *task, struct task_struct *thread,
                                        __u64 stack) {
  __u32 first = 0;
  struct caller_words *seen = bpf_map_lookup_elem(&caller_words, &first);
  if (!seen || task->places >= kMostPlaces) return 0;
  __u64 from = BPF_CORE_READ(thread, mm, start_code);
  __u64 size = BPF_CORE_READ(thread, mm, end_code) - from;
  __u32 words = 0;
#pragma unroll
  for (int chunk = 0; chunk < kCallerBytes / kCallerChunk; chunk++) {
    if (words != chunk * (kCallerChunk / 8)) break;
    if (bpf_probe_read_user(&seen->words[chunk * (kCallerChunk / 8)], kCallerChunk,
                            (void *)(stack + chunk * kCallerChunk)) == 0) {
      words += kCallerChunk / 8;
    }
  }
  __u64 hash = 0;
  for (__u32 i = 0; i < kCallerWords; i++) {
    if (i >= words) break;
    if (seen->words[i] - from < size) hash = mixed(hash, seen->words[i]);
  }
  return hash;
}
