// Package cl binds what the OpenCL device needs of libOpenCL.so.1, opened when it
// is used: OpenCL 1.2 (Khronos, "The OpenCL Specification").
package cl
