#!/bin/sh
# Makes kernels.ptx of kernels/*.cl with Debian's clang-14 (apt-get install
# --no-install-recommends clang-14); no file of NVIDIA's is needed.
set -eu
cd "$(dirname "$0")"
cat kernels/*.cl | clang-14 -x cl -cl-std=CL1.2 -Xclang -finclude-default-header --target=nvptx64-nvidia-cuda \
	-nogpulib -DPTX -O2 -ffp-contract=off -Xclang -target-cpu -Xclang sm_60 -S -o kernels.ptx -
