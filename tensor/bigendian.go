//go:build armbe || arm64be || mips || mips64 || ppc || ppc64 || s390x || sparc || sparc64

package tensor

import (
	"fmt"
	"os"
	"runtime"
)

// A View reads little-endian elements as numbers of the processor. On a big-endian processor all
// numbers would be wrong, so a program ends when it starts.
func init() {
	fmt.Fprintf(os.Stderr, "tensor: elements are little-endian, and this program was built for %s, which is "+
		"big-endian; build it for amd64, arm64, riscv64 or ppc64le\n", runtime.GOARCH)
	os.Exit(1)
}
