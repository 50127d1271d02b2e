package bnctltest_test

import (
	"testing"

	"github.com/bnctl/bnctl/bnctltest"
)

// digits is the template in the binary of a program: //go:embed digits.bnm
var digits []byte

// The test of the program checks the sum of the template.
func ExampleSameBits() {
	_ = func(t *testing.T) {
		bnctltest.SameBits(t, digits, "4e1243bd22c66e76c2ba9eddc1f91394e57f9f83d0b1f9c1d1f5c6d1f0b6c1a2")
	}
}
