#!/bin/sh
# Makes kernels.ptx of kernels/*.cl with Debian's clang-14 (apt-get install
# --no-install-recommends clang-14), and dot.ptx of those that multiply bytes, with
# the dot products of sm_61; no file of NVIDIA's is needed.
set -eu
cd "$(dirname "$0")"

# ptx TARGET FLAGS...: PTX of the kernels on standard input.
ptx() {
	target=$1
	shift
	clang-14 -x cl -cl-std=CL1.2 -Xclang -finclude-default-header --target=nvptx64-nvidia-cuda \
		-nogpulib -DPTX "$@" -O2 -ffp-contract=off -Xclang -target-cpu -Xclang "$target" -S -o - -
}

cat kernels/*.cl | ptx sm_60 >kernels.ptx
cd kernels
cat 00_dialect.cl 28_geometry.cl 29_block.cl 89_steps.cl 91_int8_block.cl | ptx sm_61 -DDOT >../dot.ptx
