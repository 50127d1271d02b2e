// Package gpu is the device that OpenCL and CUDA share: it lowers programs to
// launches of the kernels of kernels/*.cl, which are written once for both. What
// a kind of hardware does for it is a Driver.
//
// Use New to make a device for another kind of hardware than CUDA and OpenCL:
// write its Driver.
//
// Results have the bits of kernel class "fma" of the CPU device: sums are the
// same chains in the same order, and each of the other operations rounds as it
// does there.
//
// Values lie as their types say, rows after rows; one thread computes one element
// of a result.
package gpu
