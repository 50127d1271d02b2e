// Package cl binds the parts of libOpenCL.so.1 that the OpenCL device needs. The library is
// opened on use. Source: OpenCL 1.2 (Khronos, "The OpenCL Specification").
package cl
