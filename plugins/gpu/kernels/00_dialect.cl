// With these macros one source is OpenCL C or, with PTX defined, the input from which
// clang makes PTX. Kernels call builtins only through the macros and fma8, and never min,
// max, fmin or fmax. Multiplications and additions are fused only by FMA, FMA64 and fma8.
#pragma OPENCL FP_CONTRACT OFF
#define SIZE 128 // threads in a group
#ifdef PTX
#define THREAD() ((int)__nvvm_read_ptx_sreg_tid_x())
#define BARRIER() __nvvm_bar_sync(0)
#define GROUP() ((int)__nvvm_read_ptx_sreg_ctaid_x())
#define GROUP_Y() ((int)__nvvm_read_ptx_sreg_ctaid_y())
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#define FMA64(a, b, c) __builtin_fma(a, b, c)
#define SQRT64(a) __builtin_sqrt(a)
#define FLOOR64(a) __builtin_floor(a)
#else
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define THREAD() ((int)get_local_id(0))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define GROUP() ((int)get_group_id(0))
#define GROUP_Y() ((int)get_group_id(1))
#define FMA(a, b, c) fma((float)(a), (float)(b), (float)(c))
#define FMA64(a, b, c) fma((double)(a), (double)(b), (double)(c))
#define SQRT64(a) sqrt((double)(a))
#define FLOOR64(a) floor((double)(a))
#endif
#define EVERY _Pragma("unroll") for
#define LOOP _Pragma("unroll 1") for
#define KERNEL kernel __attribute__((reqd_work_group_size(SIZE, 1, 1))) void
#define FUNCTION static __attribute__((always_inline))
#define IN global const
#define OUT global
// DIV is the correctly rounded float32 quotient: 53 bits are more than 2*24+2, so the
// second rounding does not change the result (Figueroa 1995).
#define DIV(a, b) ((float)((double)(a) / (double)(b)))
#define BITS(x) as_uint((float)(x))
#define FLOAT(x) as_float((uint)(x))
#define BITS64(x) as_ulong((double)(x))
#define DOUBLE(x) as_double((ulong)(x))
#define ABS(x) FLOAT(BITS(x) & 0x7fffffffu)
#define ABS64(x) DOUBLE(BITS64(x) & 0x7fffffffffffffffUL)
// EACH declares unit and e, the element of the unit that the thread computes, and ends
// threads whose e is not below n. A unit is a row, a replica or the whole. A launch begins
// with unit first, because a grid has at most 65535 units.
#define EACH(e, unit, n) \
	int e = GROUP() * SIZE + THREAD(); \
	long unit = (long)first + GROUP_Y(); \
	if (e >= n) \
	return
// UNIT is the unit of an operand that belongs to a unit of the result: the only one
// (OF_WHOLE), the one with the same number (OF_SAME), or the replica of a row (OF_OWNER).
#define OF_WHOLE 0
#define OF_SAME 1
#define OF_OWNER 2
#define UNIT(of, unit, owner) (of == OF_SAME ? unit : of == OF_OWNER ? (long)owner[unit] : 0L)
