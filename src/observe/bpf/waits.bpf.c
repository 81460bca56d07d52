// SPDX-License-Identifier: GPL-2.0
// Where the threads of a job spend their time, counted in the kernel at BTF tracepoints: no
// tracefs, no function probes, nothing at system call entry. The reason of a block is the system
// call in the saved registers of the blocked thread, so that other processes pay nothing.
#include "observe/bpf/types.bpf.h"
#include "observe/bpf/reason.h"
#include "observe/bpf/record.h"

char LICENSE[] SEC("license") = "GPL";

enum { kStateUninterruptible = 2, kStateDead = 0x80 };  // Of the kernel: __state.
enum { kMostStackTries = 4 };

const volatile bool has_prev_state = 1;     // sched_switch reports the state (Linux 5.18).
const volatile __u32 pid_namespace = 0;     // Of the collector, by its inode.
volatile __u32 parent_tid = 0;              // Children of this thread of it are the job.
volatile __u64 smallest_event = 20000;      // Shorter waits are only counted.
volatile __u64 lost_tasks = 0, lost_sites = 0, lost_events = 0, lost_wakes = 0, mended_switches = 0;
volatile __u32 sites_used = 0;

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 8192);
  __type(key, __u32);
  __type(value, struct waits_task);
} tasks SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct waits_task);
} blank SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 8192);
  __type(key, struct waits_site_key);
  __type(value, __u32);
} site_numbers SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 8192);
  __type(key, __u32);
  __type(value, struct waits_site);
} sites SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, struct waits_wake_key);
  __type(value, struct waits_wake);
} wakes SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 8 << 20);
} ring SEC(".maps");

// Needs the ring.
#include "observe/bpf/python.bpf.h"
#include "observe/bpf/callers.bpf.h"

static __always_inline struct waits_task *find(__u32 tid) {
  return bpf_map_lookup_elem(&tasks, &tid);
}

static __always_inline __u32 bucket_of(__u64 time) {
  __u64 left = time / 1000;
  __u32 bucket = 0;
  if (left >> 16) bucket += 16, left >>= 16;
  if (left >> 8) bucket += 8, left >>= 8;
  if (left >> 4) bucket += 4, left >>= 4;
  if (left >> 2) bucket += 2, left >>= 2;
  if (left >> 1) bucket += 1, left >>= 1;
  if (left) bucket += 1;
  return bucket < kHistogramBuckets ? bucket : kHistogramBuckets - 1;
}

// The number that the thread's own namespace has for a task.
static __always_inline __u32 own_number(struct task_struct *p) {
  struct pid *pid = BPF_CORE_READ(p, thread_pid);
  unsigned int level = BPF_CORE_READ(pid, level);
  struct upid upid = {};
  if (level == 0 || level > 32) return BPF_CORE_READ(p, pid);
  bpf_core_read(&upid, bpf_core_type_size(struct upid),
                (void *)pid + bpf_core_field_offset(struct pid, numbers) +
                    level * bpf_core_type_size(struct upid));
  return upid.nr;
}

static __always_inline bool is_our_namespace(struct task_struct *p) {
  struct pid *pid = BPF_CORE_READ(p, thread_pid);
  unsigned int level = BPF_CORE_READ(pid, level);
  if (level > 32) return 0;
  struct pid_namespace *ns = 0;
  bpf_core_read(&ns, sizeof(ns),
                (void *)pid + bpf_core_field_offset(struct pid, numbers) +
                    level * bpf_core_type_size(struct upid) +
                    bpf_core_field_offset(struct upid, ns));
  return BPF_CORE_READ(ns, ns.inum) == pid_namespace;
}

static __always_inline void tell_of_task(__u32 kind, struct waits_task *task, __u32 number) {
  struct waits_event_task event = {kind, number, task->tid, task->process};
  if (bpf_ringbuf_output(&ring, &event, sizeof(event), BPF_RB_NO_WAKEUP)) lost_events++;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child) {
  __u32 first = 0, number = child->pid;
  if (!find(parent->pid)) {
    if (!parent_tid || own_number(parent) != parent_tid || !is_our_namespace(parent)) return 0;
    if (child->tgid == parent->tgid) return 0;  // A thread of the collector.
  }
  struct waits_task *task = bpf_map_lookup_elem(&blank, &first);
  if (!task || bpf_map_update_elem(&tasks, &number, task, BPF_ANY)) {
    lost_tasks++;
    return 0;
  }
  task = find(number);
  if (!task) return 0;
  task->tid = own_number(child);
  task->process = own_number(child->group_leader);
  task->parent = own_number(parent->group_leader);
  task->born = bpf_ktime_get_ns();
  bpf_core_read(&task->name, sizeof(task->name), &child->comm);
  if (child->tgid != parent->tgid) {
    __u32 from = parent->tgid, to = child->tgid;
    struct waits_python *python = bpf_map_lookup_elem(&pythons, &from);
    if (python) bpf_map_update_elem(&pythons, &to, python, BPF_ANY);
  }
  return 0;
}

// A thread other than the first that executes a program takes the first one's number.
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *p, int old_number) {
  __u64 now = bpf_ktime_get_ns();
  if (old_number != p->pid) {
    struct waits_task *before = find(old_number);
    if (before) {
      if (before->state == kTaskRunning) before->running += now - before->since;
      before->state = kTaskDead;
      before->has_exited = 1;
      before->died = now;
      tell_of_task(kEventExit, before, old_number);
    }
  }
  struct waits_task *task = find(p->pid);
  if (!task) return 0;
  if (task->has_exited) {
    task->has_exited = 0;
    task->died = 0;
    task->state = kTaskRunning;
    task->since = now;
  }
  __u32 process = p->pid;
  bpf_map_delete_elem(&pythons, &process);
  task->python = task->python_looks = 0;
  task->has_executed = 1;
  task->executed = now;
  bpf_core_read(&task->name, sizeof(task->name), &p->comm);
  tell_of_task(kEventExec, task, p->pid);
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *p) {
  struct waits_task *task = find(p->pid);
  if (!task) return 0;
  task->has_exited = 1;
  task->died = bpf_ktime_get_ns();
  task->minor_faults = p->min_flt;
  task->major_faults = p->maj_flt;
  bpf_core_read(&task->name, sizeof(task->name), &p->comm);
  tell_of_task(kEventExit, task, p->pid);
  return 0;
}

// After the last of its threads.
SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *p) {
  __u32 process = p->pid;
  if (p->pid == p->tgid) bpf_map_delete_elem(&pythons, &process);
  return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_new, struct task_struct *p) {
  struct waits_task *task = find(p->pid);
  if (!task) return 0;
  task->state = kTaskReady;
  task->was_preempted = 0;
  task->since = task->off_since = bpf_ktime_get_ns();
  task->reason = kWaitReasons;
  return 0;
}

// A thread that wakes another does so in a system call; an interrupt that came in between, or in
// user code, is not the thread's doing. What disks and timers end, the kernel ends.
static __always_inline __u32 waker_of(struct waits_task *task) {
  switch (task->reason) {
    case kWaitRead: case kWaitWrite: case kWaitSync: case kWaitSleep: case kWaitFault:
      return 0;
  }
  struct task_struct *current = bpf_get_current_task_btf();
  if (!find(current->pid)) return 0;
  struct pt_regs *registers = (struct pt_regs *)bpf_task_pt_regs(current);
  return syscall_of(registers) < 0 ? 0 : current->pid;
}

static __always_inline void count_wake(struct waits_wake_key key, __u64 time) {
  struct waits_wake *wake = bpf_map_lookup_elem(&wakes, &key);
  if (wake) {
    __sync_fetch_and_add(&wake->count, 1);
    __sync_fetch_and_add(&wake->blocked, time);
    return;
  }
  struct waits_wake first = {1, time};
  if (bpf_map_update_elem(&wakes, &key, &first, BPF_NOEXIST)) lost_wakes++;
}

static __always_inline void count_block(struct waits_task *task, __u64 time) {
  __u32 reason = task->reason;
  if (reason < kWaitReasons) {
    task->blocked[reason] += time;
    task->blocks[reason]++;
  }
  __u32 number = task->site;
  struct waits_site *site = number ? bpf_map_lookup_elem(&sites, &number) : 0;
  if (!site) return;
  site->count++;
  site->time += time;
  if (time > site->longest) site->longest = time;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *p) {
  struct waits_task *task = find(p->pid);
  if (!task || task->state != kTaskBlocked) return 0;
  __u64 now = bpf_ktime_get_ns();
  __u64 time = now - task->since;
  struct waits_wake_key key = {waker_of(task), p->pid};
  count_block(task, time);
  count_wake(key, time);
  task->waker = key.waker;
  task->wakeups++;
  task->state = kTaskReady;
  task->was_preempted = 0;
  task->since = now;
  return 0;
}

// Number of stack bytes read; 0 also if the buffer is full, which is retried.
static __always_inline __u32 send_stack(__u32 kind, __u32 site, struct waits_task *task,
                                        struct pt_regs *registers) {
  struct waits_event_stack *event = bpf_ringbuf_reserve(&ring, sizeof(*event), 0);
  if (!event) return 0;
  event->kind = kind;
  event->site = site;
  event->tid = task->tid;
  event->process = task->process;
  copy_registers(event->registers, registers);
  event->pad = 0;
  // By pages: a stack ends with one, and the first thread's is often near its end.
  __u64 from = event->registers[kStackRegister];
  __u32 first = kStackPage - (from & (kStackPage - 1));
  __u32 bytes = 0;
  if (bpf_probe_read_user(event->stack, first, (void *)from) == 0) {
    bytes = first;
#pragma unroll
    for (int page = 1; page < kStackBytes / kStackPage; page++) {
      if (bytes != first + (page - 1) * kStackPage) break;
      if (bpf_probe_read_user(&event->stack[first + (page - 1) * kStackPage], kStackPage,
                              (void *)(from + first + (page - 1) * kStackPage)) == 0) {
        bytes += kStackPage;
      }
    }
  }
  event->bytes = bytes;
  bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
  return bytes;
}

// The Python lines that a thread is in, if it runs Python: their hash, and themselves in the
// event; 0 if it does not.
static __always_inline __u64 python_lines(struct waits_task *task, struct task_struct *thread,
                                          struct waits_python *python,
                                          struct waits_event_python *event) {
  __u64 state = python_thread(task, python, thread_pointer(&thread->thread));
  return state ? read_python_frames(python, state, event) : 0;
}

// The place in the user's code that waits; its stack is sent the first time it is seen.
static __always_inline __u32 site_of(struct waits_task *task, struct task_struct *thread,
                                     __u32 reason, struct pt_regs *registers) {
  __u32 first = 0, process = thread->tgid;
  struct waits_site_key key = {thread->pid, (__s32)syscall_of(registers),
                               instruction_of(registers), stack_of(registers), 0, 0};
  if (reason == kWaitFault) key.syscall = -1;
  struct waits_python *python = bpf_map_lookup_elem(&pythons, &process);
  struct waits_event_python *lines = bpf_map_lookup_elem(&python_event, &first);
  if (python && lines) key.python = python_lines(task, thread, python, lines);
  if (!key.python) key.callers = callers_of(task, thread, key.stack);
  __u32 *known = bpf_map_lookup_elem(&site_numbers, &key);
  __u32 number = known ? *known : 0;
  if (!known) {
    number = __sync_fetch_and_add(&sites_used, 1) + 1;
    if (number >= 8192 || bpf_map_update_elem(&site_numbers, &key, &number, BPF_NOEXIST)) {
      lost_sites++;
      return 0;
    }
  }
  struct waits_site *site = bpf_map_lookup_elem(&sites, &number);
  if (!site) return 0;
  if (!known) {
    task->places++;
    site->key = key;
    site->reason = reason;
  }
  // A page of it that is not there now may be at the next wait. Where Python's lines are had, the
  // interpreter's own frames are not worth their copy.
  if (!key.python && site->stack_tries < kMostStackTries) {
    bool is_had = send_stack(kEventStack, number, task, registers) != 0;
    site->stack_tries = is_had ? kMostStackTries : site->stack_tries + 1;
  }
  if (python && lines && key.python && site->python_tries < kMostStackTries) {
    bool is_had = send_python(python, task, process, number, lines);
    site->python_tries = is_had ? kMostStackTries : site->python_tries + 1;
  }
  return number;
}

// Kernels omit one context switch in a few thousand. The kernel's own CPU time shows how long the
// thread ran in the interval; the rest was waiting.
static __always_inline __u64 ran_since(struct waits_task *task, struct task_struct *thread,
                                       __u64 open) {
  __u64 ran = thread->se.sum_exec_runtime - task->cpu_then;
  mended_switches++;
  return ran < open ? ran : open;
}

static __always_inline void mend_missed_arrival(struct waits_task *task,
                                                struct task_struct *thread, __u64 now) {
  __u64 open = now - task->since;
  __u64 ran = ran_since(task, thread, open);
  task->running += ran;
  if (task->state == kTaskBlocked) {
    count_block(task, open - ran);
    task->wakeups++;
  } else if (task->was_preempted) {
    task->preempted += open - ran;
  } else {
    task->runqueue += open - ran;
    task->runqueue_waits++;
  }
}

// It is still in the system call it waited in; when the wait for a CPU began is unknown.
static __always_inline void mend_missed_departure(struct waits_task *task,
                                                  struct task_struct *thread, __u64 now) {
  __u64 open = now - task->since;
  __u64 ran = ran_since(task, thread, open);
  struct pt_regs *registers = (struct pt_regs *)bpf_task_pt_regs(thread);
  task->running += ran;
  task->site = 0;
  if (syscall_of(registers) < 0) {
    task->preempted += open - ran;
    return;
  }
  task->reason = reason_of(syscall_of(registers), 0);
  count_block(task, open - ran);
  task->wakeups++;
}

static __always_inline void leave_cpu(struct waits_task *task, struct task_struct *thread, bool preempt,
                                      unsigned int state, __u64 now) {
  if (task->state == kTaskRunning) {
    task->running += now - task->since;
  } else if (task->state == kTaskUnknown) {
    // Its arrival would have been seen: it was on the CPU when we adopted it.
    if (task->was_adopted && task->born) task->running += now - task->born;
  } else {
    mend_missed_arrival(task, thread, now);
  }
  task->cpu_then = thread->se.sum_exec_runtime;
  task->since = task->off_since = now;
  task->site = task->waker = 0;
  if (state & kStateDead) {
    task->state = kTaskDead;
    task->died = now;
    return;
  }
  struct pt_regs *registers = (struct pt_regs *)bpf_task_pt_regs(thread);
  if (preempt || state == 0) {
    // On its way back to user code a thread is preempted in the same way as it yields.
    if (!preempt && syscall_of(registers) == kYield) {
      task->yields++;
    } else {
      task->preemptions++;
    }
    task->state = kTaskReady;
    task->was_preempted = 1;
    task->reason = kWaitReasons;
    return;
  }
  bool is_io = (state & kStateUninterruptible) || BPF_CORE_READ_BITFIELD(thread, in_iowait);
  __u32 reason = reason_of(syscall_of(registers), is_io);
  if (reason == kWaitPoll && is_poll_of_nothing(registers)) reason = kWaitSleep;
  task->reason = reason;
  task->site = site_of(task, thread, reason, registers);
  task->state = kTaskBlocked;
}

static __always_inline void tell_of_wait(struct waits_task *task, __u32 number, __u64 now) {
  struct waits_event_wait event = {};
  event.kind = kEventWait;
  event.task = number;
  event.tid = task->tid;
  event.waker = task->waker;
  event.reason = task->reason;
  event.site = task->site;
  event.off = task->off_since;
  event.woken = task->since;
  event.on = now;
  if (bpf_ringbuf_output(&ring, &event, sizeof(event), BPF_RB_NO_WAKEUP)) lost_events++;
}

static __always_inline void take_cpu(struct waits_task *task, struct task_struct *thread,
                                     __u64 now) {
  __u64 time = now - task->since;
  if (task->state == kTaskRunning) mend_missed_departure(task, thread, now);
  // It cannot run before it is woken: an unseen wake-up came while it left the CPU.
  if (task->state == kTaskBlocked) {
    count_block(task, 0);
    task->wakeups++;
    task->was_preempted = 0;
  }
  if (task->state == kTaskBlocked || task->state == kTaskReady) {
    if (task->was_preempted) {
      task->preempted += time;
    } else {
      task->runqueue += time;
      task->runqueue_waits++;
      if (time > task->longest_runqueue) task->longest_runqueue = time;
      __u32 bucket = bucket_of(time);
      if (bucket < kHistogramBuckets) task->runqueue_histogram[bucket]++;
    }
    if (now - task->off_since >= smallest_event) tell_of_wait(task, thread->pid, now);
  }
  task->state = kTaskRunning;
  task->since = now;
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx) {
  bool preempt = ctx[0];
  struct task_struct *prev = (struct task_struct *)ctx[1];
  struct task_struct *next = (struct task_struct *)ctx[2];
  struct waits_task *task = find(prev->pid);
  if (task) {
    unsigned int state = has_prev_state ? (unsigned int)ctx[3] : prev->__state;
    leave_cpu(task, prev, preempt, state, bpf_ktime_get_ns());
  }
  task = find(next->pid);
  if (task) take_cpu(task, next, bpf_ktime_get_ns());
  return 0;
}

// At every timer tick of each CPU: what the job's thread there is doing.
SEC("perf_event")
int on_sample(void *ctx) {
  struct task_struct *thread = bpf_get_current_task_btf();
  struct waits_task *task = find(thread->pid);
  if (!task) return 0;
  __u32 first = 0, process = thread->tgid;
  struct waits_python *python = bpf_map_lookup_elem(&pythons, &process);
  struct waits_event_python *lines = bpf_map_lookup_elem(&python_event, &first);
  if (python && lines && python_lines(task, thread, python, lines)) {
    send_python(python, task, process, 0, lines);
  } else {
    send_stack(kEventSample, 0, task, (struct pt_regs *)bpf_task_pt_regs(thread));
  }
  return 0;
}

// Only on request: it taxes every system call of the host.
SEC("tp_btf/sys_enter")
int BPF_PROG(on_syscall, struct pt_regs *registers, long number) {
  struct waits_task *task = find((__u32)bpf_get_current_pid_tgid());
  if (task) task->syscalls++;
  return 0;
}

// Needs the tasks and the histogram.
#include "observe/bpf/disks.bpf.h"
