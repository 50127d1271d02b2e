//go:build !linux

package cpu

import "github.com/bnctl/bnctl/tensor"

// askForHugePages is a wish that only Linux knows.
func askForHugePages([]byte) {}

// newPages returns n zeros.
func newPages(n int) []byte { return tensor.New(tensor.U8, n).Bytes }

// freePages leaves the rest to the collection of garbage.
func freePages([]byte) {}
