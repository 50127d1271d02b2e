package onnx

import (
	"errors"
	"fmt"
)

// Where the file leaves the length N of the batch open, a value may still have it elsewhere than as
// its first axis alone: exporters move it behind the positions of a sequence, and join it with heads
// or windows. Rows of such a value have the whole shape that the file has for N = 1, as unbatched
// values do; batchAxis says which axis has N in it, so that every operator can be asked whether it mixes
// rows. As soon as the batch is the first axis again it is that of the rows.

// batchAxis is an axis of outer*N*inner elements: element (o*N + n)*inner + i is one of row n.
type batchAxis struct{ axis, outer, inner int }

// ofRows is where the batch of rows is.
var ofRows = batchAxis{0, 1, 1}

// errMixes refuses what cannot be computed for each row alone.
var errMixes = errors.New("works along the batch axis, or one that has the batch in it")

// as reports whether the batch lies alike between what it is joined with.
func (p batchAxis) as(q batchAxis) bool { return p.outer == q.outer && p.inner == q.inner }

// error says what an output with this batchAxis lacks.
func (p batchAxis) error() error {
	if p.outer*p.inner > 1 {
		return fmt.Errorf("mixes the rows of the batch with %d others in axis %d", p.outer*p.inner, p.axis)
	}
	return fmt.Errorf("moves the batch axis to axis %d", p.axis)
}
