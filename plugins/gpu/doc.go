// Package gpu is the common part of the OpenCL and CUDA devices: it lowers
// programs to launches of the kernels in kernels/*.cl. The interface to the
// hardware is a Driver.
//
// Use it to write a device for another kind of GPU: implement Driver and call
// New.
//
// Results have the bits of kernel class "fma" of the CPU device: sums are the
// same chains in the same order, and each of the other operations rounds as it
// does there.
//
// Values are stored in row-major order, one row (sample) after the other. In most
// kernels one thread computes one element of a result; matrix products are
// computed in register blocks.
package gpu
