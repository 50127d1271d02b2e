#!/bin/sh
# Compiles tile.cl to tile.ptx with Debian's clang-14.
cd "$(dirname "$0")" && clang-14 -x cl -cl-std=CL1.2 -Xclang -finclude-default-header \
	--target=nvptx64-nvidia-cuda -nogpulib -O2 -fno-unroll-loops -ffp-contract=off \
	-Xclang -target-cpu -Xclang sm_60 -S -o tile.ptx tile.cl
