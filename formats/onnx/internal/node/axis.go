package node

import (
	"errors"
	"fmt"
)

// If the file leaves the length N of the batch open, the batch of a value may be on another
// axis than the first. Exporters move it after the positions of a sequence, and join it
// with heads or windows. The rows of these values have the whole shape that the file has
// for N = 1, as unbatched values do. BatchAxis is the axis that contains N, so that the
// rule of each operator can report whether it mixes rows. Once the batch is the first axis
// again, the value is treated like any other.

// BatchAxis is an axis of outer*N*inner elements: element (o*N + n)*inner + i belongs to
// row n.
type BatchAxis struct{ Axis, Outer, Inner int }

// OfRows is the batch axis of values that have the batch as their first axis.
var OfRows = BatchAxis{0, 1, 1}

// ErrMixes is the error for operations that cannot be computed for each row separately.
var ErrMixes = errors.New("works along the batch axis, or one that has the batch in it")

// As reports whether p and q have the batch at the same position within their axes.
func (p BatchAxis) As(q BatchAxis) bool { return p.Outer == q.Outer && p.Inner == q.Inner }

// Error returns the reason why an output with this BatchAxis is invalid.
func (p BatchAxis) Error() error {
	if p.Outer*p.Inner > 1 {
		return fmt.Errorf("mixes the rows of the batch with %d others in axis %d", p.Outer*p.Inner, p.Axis)
	}
	return fmt.Errorf("moves the batch axis to axis %d", p.Axis)
}
