// disks.bpf.h: disk requests of the host and of the job. Included by waits.bpf.c, whose tasks and
// histogram it uses.
#pragma once

#include "observe/bpf/record.h"
#include "observe/bpf/types.bpf.h"

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 8192);
  __type(key, __u64);
  __type(value, __u64[2]);
} requests SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 64);
  __type(key, __u32);
  __type(value, struct waits_device);
} devices SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct waits_device);
} blank_device SEC(".maps");

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_issue, struct request *request) {
  __u64 key = (__u64)request;
  __u64 value[2] = {bpf_ktime_get_ns(), find((__u32)bpf_get_current_pid_tgid()) != 0};
  bpf_map_update_elem(&requests, &key, &value, BPF_ANY);
  return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_complete, struct request *request, __u8 status, unsigned int bytes) {
  __u64 key = (__u64)request;
  __u64 *started = bpf_map_lookup_elem(&requests, &key);
  if (!started) return 0;
  __u64 time = bpf_ktime_get_ns() - started[0];
  __u64 is_own = started[1];
  bpf_map_delete_elem(&requests, &key);
  struct gendisk *disk = BPF_CORE_READ(request, q, disk);
  __u32 number = BPF_CORE_READ(disk, major) << 20 | BPF_CORE_READ(disk, first_minor);
  struct waits_device *device = bpf_map_lookup_elem(&devices, &number);
  if (!device) {
    __u32 first = 0;
    device = bpf_map_lookup_elem(&blank_device, &first);
    if (!device || bpf_map_update_elem(&devices, &number, device, BPF_NOEXIST)) return 0;
    device = bpf_map_lookup_elem(&devices, &number);
    if (!device) return 0;
    bpf_core_read(&device->name, sizeof(device->name), &disk->disk_name);
  }
  __u32 way = (request->cmd_flags & 0xff) != 0;
  __sync_fetch_and_add(&device->ios[way & 1], 1);
  __sync_fetch_and_add(&device->time[way & 1], time);
  __sync_fetch_and_add(&device->bytes[way & 1], bytes);
  if (is_own) {
    __sync_fetch_and_add(&device->own_ios, 1);
    __sync_fetch_and_add(&device->own_time, time);
  }
  if (time > device->longest) device->longest = time;
  __u32 bucket = bucket_of(time);
  if (bucket < kHistogramBuckets) device->histogram[bucket]++;
  return 0;
}
