// Package cu binds what the CUDA device needs of NVIDIA's driver: libnvidia-ml,
// which describes GPUs and touches none, and libcuda, which computes on one
// (CUDA driver API). Nothing of the CUDA toolkit is needed. The libraries are
// opened when they are used, with dlopen and without cgo: a machine without them
// is an ordinary case, and the error says which one is missing.
package cu
