//go:build !linux

package arena

import (
	"github.com/bnctl/bnctl/tensor"
)

// AlignmentBytes is the maximum number of bytes that newArena adds to an arena.
const AlignmentBytes = 0

// newArena returns n zeros.
func newArena(n int) []byte { return tensor.New(tensor.U8, n).Bytes }

// newPages returns n zeros.
func newPages(n int) []byte { return tensor.New(tensor.U8, n).Bytes }

// freePages does nothing: the garbage collector frees the pages.
func freePages([]byte) {}
