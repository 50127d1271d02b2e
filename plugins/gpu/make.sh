#!/bin/sh
# Compiles kernels/*.cl to kernels.ptx, and the kernels that multiply blocks of bytes to dot.ptx,
# which uses the dot products of sm_61, and to mma75.ptx and mma80.ptx, which use the matrix units of
# sm_75 and sm_80. It needs Debian's clang-14 (apt-get install --no-install-recommends clang-14) and no
# files from NVIDIA.
set -eu
cd "$(dirname "$0")"

# ptx TARGET FLAGS... compiles the kernels on standard input to PTX.
ptx() {
	target=$1
	shift
	clang-14 -x cl -cl-std=CL1.2 -Xclang -finclude-default-header --target=nvptx64-nvidia-cuda \
		-nogpulib -DPTX "$@" -O2 -ffp-contract=off -Xclang -target-cpu -Xclang "$target" -S -o - -
}

cat kernels/*.cl | ptx sm_60 >kernels.ptx
cd kernels
cat 00_dialect.cl 28_geometry.cl 29_block.cl 89_steps.cl 91_int8_block.cl | ptx sm_61 -DDOT >../dot.ptx
mma() {
	cat 00_dialect.cl 28_geometry.cl 29_block.cl 89_steps.cl 92_int8_mma.cl |
		ptx "sm_$1" -DMMA="$1" -Xclang -target-feature -Xclang "+ptx$2" >"../mma$1.ptx"
}
mma 75 65
mma 80 70
