// A kernel in which tests plant bugs. It has shared memory between barriers in a loop, guards at
// the edge of the data, and operations in float32 and float64.
#pragma OPENCL FP_CONTRACT OFF
#define LID() __nvvm_read_ptx_sreg_tid_x()
#define GID() (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + LID())
#define BARRIER() __nvvm_bar_sync(0)

// c[i] is a third of a chain over all k of a[k] * a[m]. m is in the same tile of 64 as k, at
// position (k + i) mod 64 of the tile.
kernel void tile(global const float *restrict a, global float *restrict c, int n) {
  local float part[64];
  int i = GID(), l = LID();
  float s = 0;
  for (int k = 0; k < n; k += 64) {
    float v = 0;
    if (k + l < n)
      v = a[k + l];
    part[l] = v;
    BARRIER();
    for (int j = 0; j < 64; j++)
      s = __builtin_fmaf(part[j], part[(j + l) & 63], s);
    BARRIER();
  }
  if (i < n)
    c[i] = (float)((double)s / 3.0);
}
