// Package ptx runs PTX in Go, for tests: it runs the CUDA kernels on machines
// without a GPU. It reads the part of PTX that clang-14 writes (PTX ISA
// 5.0 to 7.0), runs a grid block by block, and all threads of a block together to
// their next barrier. Floats follow IEEE 754 to the last bit. Of products of
// matrices it has mma.sync of bytes, m8n8k16 and m16n8k32.
//
// It is stricter than hardware. A launch ends with a Fault if a kernel
//   - touches memory out of bounds, misaligned, freed or never written;
//   - reads a register that was never written;
//   - lets two threads access one word, one of them writing, without a barrier
//     between (a word has 4 bytes, or one byte where a kernel accesses bytes). A
//     barrier orders only shared memory, as the kernels' barrier does in OpenCL,
//     so it does not separate accesses to a buffer, and nothing separates the
//     blocks of a launch. Atomics are refused when a module is loaded. The Fault
//     has the kernel, the instruction and the address of the race;
//   - reads through the read-only cache what the launch has written;
//   - has a barrier that some threads of the block do not reach;
//   - has a product of matrices that some threads of a warp do not reach;
//   - divides an integer by zero, or runs on without end;
//   - is launched above the limits of the target.
//
// Instructions that the driver's compiler may change are refused when a module is
// loaded: arithmetic on floats without .rn, and .ftz, .approx and .full.
package ptx
