// types.bpf.h: the kernel types that the BPF program reads.
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
// Kernel values.
enum {
  BPF_MAP_TYPE_HASH = 1,
  BPF_MAP_TYPE_ARRAY = 2,
  BPF_MAP_TYPE_PERCPU_ARRAY = 6,
  BPF_MAP_TYPE_LRU_HASH = 9,
  BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1, BPF_RB_NO_WAKEUP = 1 };
// clang-format off
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
// clang-format on

#include "observe/bpf/registers.bpf.h"

// Only the members that are read; the loader finds their offsets (CO-RE).
struct ns_common {
  unsigned int inum;
} __attribute__((preserve_access_index));
struct pid_namespace {
  struct ns_common ns;
} __attribute__((preserve_access_index));
struct upid {
  int nr;
  struct pid_namespace *ns;
} __attribute__((preserve_access_index));
struct pid {
  unsigned int level;
  struct upid numbers[1];
} __attribute__((preserve_access_index));
struct sched_entity {
  __u64 sum_exec_runtime;
} __attribute__((preserve_access_index));
struct mm_struct {
  unsigned long start_code, end_code;
} __attribute__((preserve_access_index));
struct task_struct {
  int pid, tgid;
  struct sched_entity se;
  unsigned int __state;
  unsigned int in_iowait : 1;
  char comm[16];
  unsigned long min_flt, maj_flt;
  struct task_struct *group_leader;
  struct pid *thread_pid;
  struct mm_struct *mm;
  struct thread_struct thread;
} __attribute__((preserve_access_index));
struct gendisk {
  int major, first_minor;
  char disk_name[32];
} __attribute__((preserve_access_index));
struct request_queue {
  struct gendisk *disk;
} __attribute__((preserve_access_index));
struct request {
  struct request_queue *q;
  unsigned int cmd_flags, __data_len;
} __attribute__((preserve_access_index));
