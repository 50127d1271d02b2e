// Package cu binds the parts of NVIDIA's driver that the CUDA device needs: libnvidia-ml,
// which describes GPUs without touching them, and libcuda, which computes on a GPU (CUDA
// driver API). The CUDA toolkit is not needed. The libraries are opened on use, with dlopen
// and without cgo: a machine without them is an ordinary case, and the error names the
// missing one.
package cu
