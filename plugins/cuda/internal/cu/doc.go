// Package cu binds the parts of NVIDIA's driver that the CUDA device needs. libnvidia-ml
// describes GPUs without touching them, and libcuda computes on a GPU (CUDA driver API). The
// CUDA toolkit is not needed.
//
// The libraries are opened at run time, with dlopen and without cgo. A missing library is an ordinary
// error, which names it.
package cu
