package data

import (
	"bytes"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// Samples of a batch are mixed after all of its rows are filled. Row i is mixed with row i-1, and row 0 with
// the last row. The partner of a row is used in its unmixed form.
//
//	rows     0 1 2 3 ... n-1
//	partner  n-1 0 1 2 ...     Batch.Partners has their labels

// mix mixes the rows of a batch, and sets Partners. For each row, Labels has the label with the larger share
// of the mixture, and Partners the other one.
func (b *Batch) mix() {
	l, n := b.loader, b.Len()
	b.Fraction = 1
	if l.info.Labelled {
		b.Partners = tensor.Tensor{DType: b.Labels.DType, Shape: b.Labels.Shape, Bytes: rolled(b.Labels.Bytes, n)}
	}
	if n == 1 {
		return
	}
	m := l.plan.Transform.Augment.DrawMixture(l.plan.Seed, b.Position.Epoch, b.Position.Index,
		l.shape[0], l.shape[1])
	last := b.row(n - 1).Bytes
	partner := bytes.Clone(last)
	for i := n - 1; i >= 0; i-- {
		of := partner
		if i > 0 {
			of = b.row(i - 1).Bytes
		}
		if b.wanted == nil || b.wanted(i) {
			m.Apply(images.Plane{H: l.shape[0], W: l.shape[1], C: l.shape[2], Pix: b.row(i).Bytes}, of)
		}
	}
	if b.Fraction = float32(m.Fraction); m.Fraction < 0.5 {
		b.Fraction = float32(1 - m.Fraction)
		b.Labels, b.Partners = b.Partners, b.Labels
	}
}

// rolled returns a copy of n rows, shifted down by one; the last row becomes the first.
func rolled(rows []byte, n int) []byte {
	size := len(rows) / n
	return append(bytes.Clone(rows[(n-1)*size:]), rows[:(n-1)*size]...)
}

// needed selects the rows that must be read to make the wanted ones: the wanted rows themselves, and their
// partners.
func needed(wanted func(row int) bool, rows int) func(row int) bool {
	if wanted == nil {
		return nil
	}
	return func(row int) bool { return wanted(row) || wanted((row+1)%rows) }
}
