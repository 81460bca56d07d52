// python.bpf.h: reads a thread's current Python lines from its interpreter's structures.
#pragma once

#include "observe/bpf/types.bpf.h"

enum { kMostPythonThreads = 128 };    // Threads to search, over all interpreters.
enum { kOwnedByC = 3 };               // Owner of a frame that belongs to no Python function.
enum { kUnicodeLength = 16, kUnicodeState = 32, kBytesLength = 16, kBytes = 32 };
enum { kUnicodeCompact = 1 << 5, kUnicodeAscii = 1 << 6, kLongestText = 4096 };

// Interpreters by process id. Filled by the collector.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, __u32);
  __type(value, struct waits_python);
} pythons SEC(".maps");

// Code objects already sent. A new one may reuse the address of an old one.
struct code_key {
  __u32 process, first_line;
  __u64 code, lines;
};
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 16384);
  __type(key, struct code_key);
  __type(value, __u32);
} codes SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct waits_event_python);
} python_event SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct waits_event_code);
} code_event SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64[kPythonFrameWords]);
} frame_words SEC(".maps");

// 0 if it cannot be read.
static __always_inline __u64 user_word(__u64 address) {
  __u64 value = 0;
  bpf_probe_read_user(&value, sizeof(value), (void *)address);
  return value;
}

static __always_inline __u64 find_python_thread(struct waits_python *python, __u64 pointer) {
  __u64 interpreter = user_word(python->runtime + python->interpreters);
  __u64 thread = interpreter ? user_word(interpreter + python->threads) : 0;
  for (int i = 0; i < kMostPythonThreads; i++) {
    if (!interpreter) return 0;
    if (!thread) {
      interpreter = user_word(interpreter + python->next_interpreter);
      thread = interpreter ? user_word(interpreter + python->threads) : 0;
      continue;
    }
    if (user_word(thread + python->pointer) == pointer) return thread;
    thread = user_word(thread + python->next_thread);
  }
  return 0;
}

// Retried less and less often: a library's own threads have no Python state.
static __always_inline __u64 python_thread(struct waits_task *task, struct waits_python *python,
                                           __u64 pointer) {
  __u64 thread = task->python;
  if (thread && user_word(thread + python->pointer) == pointer) return thread;
  __u32 looks = ++task->python_looks;
  if (looks > 4 && (looks & (looks - 1))) return 0;
  thread = find_python_thread(python, pointer);
  task->python = thread;
  if (thread) task->python_looks = 0;
  return thread;
}

static __always_inline __u64 mixed(__u64 hash, __u64 value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29);
}

static __always_inline __u64 frame_word(struct waits_python *python, __u64 *words, __u32 offset) {
  return words[((offset - python->frame_from) >> 3) & (kPythonFrameWords - 1)];
}

// Reads the frames into `event` and returns their hash; 0: none.
static __always_inline __u64 read_python_frames(struct waits_python *python, __u64 thread,
                                                struct waits_event_python *event) {
  __u64 frame = user_word(thread + python->frame);
  if (frame && python->inner_frame != kNoOffset) frame = user_word(frame + python->inner_frame);
  __u32 first = 0, bytes = python->frame_bytes;
  __u64 *words = bpf_map_lookup_elem(&frame_words, &first);
  __u64 hash = 0;
  event->count = 0;
  if (!words || bytes > kPythonFrameWords * 8) return 0;
  for (__u32 i = 0; i < kPythonFrames; i++) {
    // Reads the whole frame at once: reads are the main cost here.
    if (!frame || bpf_probe_read_user(words, bytes, (void *)(frame + python->frame_from))) break;
    struct waits_python_frame *made = &event->frames[i];
    __u64 instruction = frame_word(python, words, python->instruction);
    made->code = frame_word(python, words, python->code);
    made->at = (__s32)instruction;
    if (python->instructions != kNoOffset) {
      made->at = (__s32)(instruction - made->code - python->instructions);
    }
    if (python->owner != kNoOffset) {
      __u64 owner = frame_word(python, words, python->instruction + 8);
      if ((__u8)(owner >> (8 * (python->owner & 7))) == kOwnedByC) made->code = made->at = 0;
    }
    hash = mixed(mixed(hash, made->code), (__u32)made->at);
    event->count = i + 1;
    frame = frame_word(python, words, python->previous);
  }
  return event->count ? hash | 1 : 0;
}

// Keeps the end of a text that is too long. False if it cannot be read.
static __always_inline bool read_python_text(struct waits_python *python, __u64 text,
                                             struct waits_python_text *head, __u8 *to,
                                             __u64 room) {
  head->length = user_word(text + kUnicodeLength);
  head->state = (__u32)user_word(text + kUnicodeState);
  __u64 bytes = head->length * ((head->state >> 2) & 7);
  if (!(head->state & kUnicodeCompact) || bytes > kLongestText) return 0;
  __u64 from = text + (head->state & kUnicodeAscii ? python->ascii_bytes : python->wide_bytes);
  if (bytes > room) {
    from += bytes - room;
    bytes = room;
  }
  return bpf_probe_read_user(to, bytes, (void *)from) == 0;
}

// False if it cannot be read now, or the buffer is full.
static __always_inline bool send_code(struct waits_python *python, struct waits_task *task,
                                      __u32 process, __u64 code) {
  struct code_key key = {process, (__u32)user_word(code + python->first_line), code,
                         user_word(code + python->lines)};
  if (bpf_map_lookup_elem(&codes, &key)) return 1;
  __u32 first = 0;
  struct waits_event_code *event = bpf_map_lookup_elem(&code_event, &first);
  if (!event) return 0;
  event->kind = kEventCode;
  event->process = task->process;
  event->code = code;
  event->first_line = key.first_line;
  event->version = python->version;
  if (!read_python_text(python, user_word(code + python->file), &event->file_head, event->file,
                        kPythonFileBytes) ||
      !read_python_text(python, user_word(code + python->name), &event->name_head, event->name,
                        kPythonNameBytes)) {
    return 0;
  }
  __u64 bytes = user_word(key.lines + kBytesLength);
  if (bytes > kPythonLineBytes) bytes = kPythonLineBytes;
  if (bpf_probe_read_user(event->lines, bytes, (void *)(key.lines + kBytes))) return 0;
  event->line_bytes = (__u32)bytes;
  if (bpf_ringbuf_output(&ring, event, sizeof(*event) - kPythonLineBytes + bytes,
                         BPF_RB_NO_WAKEUP)) {
    return 0;
  }
  __u32 one = 1;
  bpf_map_update_elem(&codes, &key, &one, BPF_ANY);
  return 1;
}

// Sends the frames from read_python_frames() and any new code objects. False if part of it is
// missing.
static __always_inline bool send_python(struct waits_python *python, struct waits_task *task,
                                        __u32 process, __u32 site,
                                        struct waits_event_python *event) {
  bool is_whole = 1;
  for (__u32 i = 0; i < kPythonFrames; i++) {
    if (i >= event->count) break;
    __u64 code = event->frames[i].code;
    if (code && !send_code(python, task, process, code)) is_whole = 0;
  }
  event->kind = kEventPython;
  event->site = site;
  event->tid = task->tid;
  event->process = task->process;
  if (bpf_ringbuf_output(&ring, event, sizeof(*event), BPF_RB_NO_WAKEUP)) is_whole = 0;
  return is_whole;
}
