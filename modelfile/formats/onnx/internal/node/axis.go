package node

import (
	"errors"
	"fmt"
)

// Where the file leaves the length N of the batch open, a value may still have it elsewhere than as
// its first axis alone: exporters move it after the positions of a sequence, and join it with heads
// or windows. Rows of that value have the whole shape that the file has for N = 1, as unbatched
// values do; BatchAxis names the axis that contains N, so that every operator can be asked whether it mixes
// rows. As soon as the batch is the first axis again it is the batch of the rows.

// BatchAxis is an axis of outer*N*inner elements: element (o*N + n)*inner + i is one of row n.
type BatchAxis struct{ Axis, Outer, Inner int }

// OfRows is where the batch of rows is.
var OfRows = BatchAxis{0, 1, 1}

// ErrMixes refuses nodes that cannot be computed row by row.
var ErrMixes = errors.New("works along the batch axis, or one that has the batch in it")

// As reports whether p and q join the batch with the same outer and inner lengths.
func (p BatchAxis) As(q BatchAxis) bool { return p.Outer == q.Outer && p.Inner == q.Inner }

// Error returns why a value with this BatchAxis cannot be an output.
func (p BatchAxis) Error() error {
	if p.Outer*p.Inner > 1 {
		return fmt.Errorf("mixes the rows of the batch with %d others in axis %d", p.Outer*p.Inner, p.Axis)
	}
	return fmt.Errorf("moves the batch axis to axis %d", p.Axis)
}
