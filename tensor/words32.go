//go:build 386 || arm || armbe || mips || mipsle || ppc || sparc

package tensor

// Sizes of tensors have 64 bits. For a processor with 32 bits the compiler ends with this name as the error.
var _ = bnctl_needs_a_64_bit_processor__build_it_for_amd64_arm64_riscv64_or_ppc64le
