//go:build amxemulation && linux && amd64 && !purego

package kernel

import "testing"

// TestEmulated fails without the set of kernels for matrix units: the tests with emulated matrix units
// would test nothing.
func TestEmulated(t *testing.T) {
	if len(matrixSets()) == 0 {
		t.Error("class amx needs AVX-512 with bfloat16 for all but the matrix units; this processor has none")
	}
}
