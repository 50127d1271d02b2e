package models

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// WeightsSum returns the sum of the weights: the SHA-256 of the state, in hexadecimal. The sum of a
// file also covers the graph, the labels and the recipe, and changes if these get a new field.
// WeightsSum stays the same. docs/format.md defines it.
func (m *Model) WeightsSum() string {
	h := sha256.New()
	HashState(h, m.State)
	return hex.EncodeToString(h.Sum(nil))
}

// HashState writes a state to h. For each tensor, in the order of names, it writes the line "NAME
// DTYPE [A B]" and the elements in little endian.
func HashState(h hash.Hash, state map[string]tensor.Tensor) {
	for _, name := range slices.Sorted(maps.Keys(state)) {
		t := state[name]
		fmt.Fprintln(h, name, t.DType, t.Shape)
		h.Write(t.Bytes)
	}
}
