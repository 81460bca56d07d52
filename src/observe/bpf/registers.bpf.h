// registers.bpf.h: everything in the BPF program that depends on x86-64 registers.
#pragma once

#include "observe/bpf/record.h"

struct pt_regs {
  unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, sp;
} __attribute__((preserve_access_index));

struct thread_struct {
  unsigned long fsbase;
} __attribute__((preserve_access_index));

enum { kYield = 24 };  // System call sched_yield; reason.h has the others.

// Negative if the thread is in no system call.
static __always_inline long syscall_of(struct pt_regs *registers) {
  return (long)registers->orig_ax;
}

// select() and poll() without any file are a sleep.
static __always_inline bool is_poll_of_nothing(struct pt_regs *registers) {
  switch (registers->orig_ax) {
    case 23:
    case 270:
      return (int)registers->di == 0;
    case 7:
    case 271:
      return registers->si == 0;
    default:
      return 0;
  }
}

static __always_inline __u64 instruction_of(struct pt_regs *registers) { return registers->ip; }
static __always_inline __u64 stack_of(struct pt_regs *registers) { return registers->sp; }

enum { kStackRegister = 7 };  // In DWARF order:
static __always_inline void copy_registers(__u64 *to, struct pt_regs *registers) {
  to[0] = registers->ax;
  to[1] = registers->dx;
  to[2] = registers->cx;
  to[3] = registers->bx;
  to[4] = registers->si;
  to[5] = registers->di;
  to[6] = registers->bp;
  to[7] = registers->sp;
  to[8] = registers->r8;
  to[9] = registers->r9;
  to[10] = registers->r10;
  to[11] = registers->r11;
  to[12] = registers->r12;
  to[13] = registers->r13;
  to[14] = registers->r14;
  to[15] = registers->r15;
  to[16] = registers->ip;
}

// The thread's pthread_self().
static __always_inline __u64 thread_pointer(struct thread_struct *thread) {
  return BPF_CORE_READ(thread, fsbase);
}
