// Package cu binds what the CUDA device needs of NVIDIA's libraries. They are
// opened when they are used, with dlopen and without cgo: a machine without
// them is an ordinary case, and the error says which one is missing.
package cu
