// reason.h: what a thread in a system call waits for. C, for both compilers.
#pragma once

#include "observe/bpf/record.h"

// Numbers of x86-64. A negative number means no system call: then the thread waits for a page
// fault. Reads and writes wait for a disk (`is_io`), else for the other end.
static inline enum waits_reason reason_of(long syscall, int is_io) {
  if (syscall < 0) return kWaitFault;
  switch (syscall) {
    // clang-format off
    case 202: case 449: case 454: case 455: case 456:
      return kWaitFutex;
    case 0: case 17: case 19: case 40: case 187: case 295: case 327:
      return is_io ? kWaitRead : kWaitPipe;
    case 1: case 18: case 20: case 275: case 276: case 278: case 296: case 326: case 328:
      return is_io ? kWaitWrite : kWaitPipe;
    case 26: case 74: case 75: case 162: case 277: case 306:
      return kWaitSync;
    case 7: case 23: case 232: case 270: case 271: case 281: case 441:
      return kWaitPoll;
    case 35: case 230:
      return kWaitSleep;
    case 61: case 247: case 34: case 128: case 130:
      return kWaitChild;
    case 42: case 43: case 44: case 45: case 46: case 47: case 288: case 299: case 307:
      return kWaitNet;
    case 9: case 10: case 11: case 12: case 25: case 28:
      return kWaitMemory;
    case 2: case 3: case 4: case 5: case 6: case 21: case 59: case 76: case 77: case 78: case 82:
    case 83: case 84: case 85: case 87: case 89: case 217: case 257: case 258: case 262: case 263:
    case 264: case 269: case 316: case 322: case 332: case 437: case 439:
      return kWaitFiles;
    case 16:
      return kWaitDevice;
    case 208: case 426:
      return is_io ? kWaitRead : kWaitPoll;
    default:
      return kWaitOther;
      // clang-format on
  }
}
