//go:build amxemulation && linux && amd64 && !purego

package kernel

import "testing"

// Tests with emulated matrix units would test nothing without their set.
func TestEmulated(t *testing.T) {
	if len(matrixSets()) == 0 {
		t.Error("class amx needs AVX-512 with bfloat16 for all but the matrix units; this processor has none")
	}
}
