package parallel

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/parallel/internal/placement"
)

// Split cuts rows into contiguous slices for the replicas. Sizes differ by at
// most one, larger first: 10 over 4 is 3, 3, 2, 2. Empty slices are legal.
func Split(rows, replicas int) []int { return placement.Split(rows, replicas) }

// PlaceCounts gives device i counts[i] replicas, in contiguous ranges.
func PlaceCounts(replicas int, counts []int) ([][]int, error) {
	return placement.ByCounts(replicas, counts)
}

// An epoch rarely divides by the batch. The policies for 10 rows of a batch of 16 over 4
// replicas:
//
//	keep     3 3 2 2      split as it is
//	pad      4 4 2 0      placed as in a full batch; the rest is not computed
//	repeat   4 4 4 4      the first 6 rows once more
//	drop     0 0 0 0      left out

// Tail is the treatment of the last, incomplete batch of an epoch.
type Tail string

// These are the policies for the last batch.
const (
	Keep   Tail = "keep"   // the rows are split as they are
	Pad    Tail = "pad"    // rows are placed as in a full batch; missing rows are never computed
	Repeat Tail = "repeat" // the batch is filled up with its first samples, as ordinary rows
	Drop   Tail = "drop"   // the batch is left out
)

// Tails returns all policies for the last batch.
func Tails() []Tail { return []Tail{Keep, Pad, Repeat, Drop} }

// ParseTail returns the policy for the last batch with that name.
func ParseTail(s string) (Tail, error) {
	if t := Tail(s); slices.Contains(Tails(), t) {
		return t, nil
	}
	return "", fmt.Errorf("unknown tail policy %q; there are %v", s, Tails())
}

// Slices is the assignment of the rows of one batch to replicas.
type Slices struct {
	Sizes    []int // rows of each replica
	Repeated int   // rows that the batch repeats at its end: row i is row i mod (rows - Repeated)
	Dropped  int   // rows that are left out; all sizes are then 0
}

// Rows returns the number of computed rows, over all replicas.
func (s Slices) Rows() int {
	n := 0
	for _, k := range s.Sizes {
		n += k
	}
	return n
}

// Slice divides a number of rows, which is at most batch, among the replicas.
func (t Tail) Slice(rows, batch, replicas int) Slices {
	switch {
	case rows == batch || t == Keep:
		return Slices{Sizes: Split(rows, replicas)}
	case t == Repeat:
		return Slices{Sizes: Split(batch, replicas), Repeated: batch - rows}
	case t == Drop:
		return Slices{Sizes: make([]int, replicas), Dropped: rows}
	}
	sizes := Split(batch, replicas)
	for i := range sizes {
		sizes[i] = min(sizes[i], rows)
		rows -= sizes[i]
	}
	return Slices{Sizes: sizes}
}
