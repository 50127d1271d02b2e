//go:build !linux

package run

import "github.com/bnctl/bnctl/tensor"

// newArena returns n zeros.
func newArena(n int) []byte { return tensor.New(tensor.U8, n).Bytes }

// newPages returns n zeros.
func newPages(n int) []byte { return tensor.New(tensor.U8, n).Bytes }

// freePages leaves the rest to the collection of garbage.
func freePages([]byte) {}
