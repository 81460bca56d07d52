// kernels.h: what the device runs besides matrix products, in OpenCL C.
#pragma once

namespace device_queue {

inline constexpr const char* kKernels = R"(
// Rectify, scale by a power of two, round, cut to four bits: what an int4 network does.
kernel void quantise(global float* x, int count, float scale) {
  int i = get_global_id(0);
  if (i < count) {
    x[i] = clamp(rint(x[i] * scale), 0.0f, 15.0f);
  }
}

// How many values are not finite or too large for a float to be exact.
kernel void range_check(global const float* x, int count, float limit, global int* beyond) {
  int i = get_global_id(0);
  if (i < count && !(fabs(x[i]) <= limit)) {
    atomic_inc(beyond);
  }
}

kernel void best_class(global const float* scores, int items, int classes, global int2* best) {
  int item = get_global_id(0);
  if (item >= items) {
    return;
  }
  int found = 0;
  float most = scores[item * classes];
  for (int c = 1; c < classes; ++c) {
    float score = scores[item * classes + c];
    if (score > most) {
      most = score;
      found = c;
    }
  }
  best[item] = (int2)(found, (int)most);
}

// The sum of the best scores, by one group.
kernel void sum_best(global const int2* best, int items, global int* sum, local int* partial) {
  int lane = get_local_id(0);
  int mine = 0;
  for (int item = lane; item < items; item += get_local_size(0)) {
    mine += best[item].y;
  }
  partial[lane] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
    if (lane < half_size) {
      partial[lane] += partial[lane + half_size];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) {
    *sum = partial[0];
  }
}

// c[m,n] = a[m,k] * b[k,n], for devices that cannot run a function of ours.
kernel void gemm(global const float* a, global const float* b, global float* c, int m, int n,
                 int k) {
  int column = get_global_id(0);
  int row = get_global_id(1);
  if (column < n && row < m) {
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
      sum += a[row * k + i] * b[i * n + column];
    }
    c[row * n + column] = sum;
  }
}
)";

}  // namespace device_queue
