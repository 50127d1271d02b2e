package data

import (
	"bytes"
	"fmt"
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// Samples of a batch are mixed when all of its rows are filled: row i with row i-1, and row 0 with the
// last, each in its unmixed form.
//
// 	rows     0 1 2 3 ... n-1
// 	partner  n-1 0 1 2 ...     Batch.Partners has their labels

// mixture holds the settings that all rows of a batch share.
type mixture struct {
	fraction float64 // share of the row itself, in steps of 2^-24: exact in float32, like 1 minus it
	cut      box     // cutmix: the part copied from the partner; empty: every pixel is mixed
}

// mixing returns the operations of an augmentation that mix.
func (a Augment) mixing() (up, cut *operation) {
	for _, op := range a.operations() {
		switch op.name {
		case mixup:
			up = &op
		case cutmix:
			cut = &op
		}
	}
	return up, cut
}

// Mixes reports whether an augmentation mixes samples of a batch.
func (a Augment) Mixes() bool {
	up, cut := a.mixing()
	return up != nil || cut != nil
}

// drawMixture draws the mixture of a batch of pictures of h x w pixels. If both ways to mix
// are enabled, the first word selects one. Then it draws the fraction, and for cutmix the
// centre of the part: across, down.
func (a Augment) drawMixture(seed uint64, at Position, h, w int) mixture {
	up, cut := a.mixing()
	d := tensor.NewPhilox(seed, tensor.StreamMix).Draws(uint32(at.Epoch), uint64(at.Index))
	if up != nil && (cut == nil || d.Uint32()>>31 == 0) {
		return mixture{fraction: exactFraction(d.Beta(up.args[0]))}
	}
	side := float64(0.5 * math.Sqrt(1-d.Beta(cut.args[0])))
	x, y := d.Intn(w), d.Intn(h)
	acrossHalf, downHalf := int(float64(side*float64(w))), int(float64(side*float64(h)))
	left, top := max(x-acrossHalf, 0), max(y-downHalf, 0)
	b := box{left, top, min(x+acrossHalf, w) - left, min(y+downHalf, h) - top}
	return mixture{exactFraction(1 - float64(b.w*b.h)/float64(w*h)), b}
}

func exactFraction(v float64) float64 { return math.RoundToEven(v*(1<<24)) / (1 << 24) }

// mix mixes the rows of a batch and sets the labels of partners. Labels has, for each row,
// the label with the larger fraction.
func (b *Batch) mix() {
	l, n := b.loader, b.Len()
	b.Fraction = 1
	if l.info.Labelled {
		b.Partners = tensor.Tensor{DType: b.Labels.DType, Shape: b.Labels.Shape, Bytes: rolled(b.Labels.Bytes, n)}
	}
	if n == 1 {
		return
	}
	m := l.plan.Transform.Augment.drawMixture(l.plan.Seed, b.Position, l.shape[0], l.shape[1])
	last := b.row(n - 1).Bytes
	partner := bytes.Clone(last)
	for i := n - 1; i >= 0; i-- {
		of := partner
		if i > 0 {
			of = b.row(i - 1).Bytes
		}
		if b.wanted == nil || b.wanted(i) {
			m.apply(plane{l.shape[0], l.shape[1], l.shape[2], b.row(i).Bytes}, of)
		}
	}
	if b.Fraction = float32(m.fraction); m.fraction < 0.5 {
		b.Fraction = float32(1 - m.fraction)
		b.Labels, b.Partners = b.Partners, b.Labels
	}
}

// rolled returns a copy of n rows, shifted down by one; the last row becomes the first.
func rolled(rows []byte, n int) []byte {
	size := len(rows) / n
	return append(bytes.Clone(rows[(n-1)*size:]), rows[:(n-1)*size]...)
}

// apply mixes a picture with its partner.
func (m mixture) apply(p plane, partner []byte) {
	if m.cut != (box{}) {
		for y := m.cut.y; y < m.cut.y+m.cut.h; y++ {
			from, to := (y*p.w+m.cut.x)*p.c, (y*p.w+m.cut.x+m.cut.w)*p.c
			copy(p.pix[from:to], partner[from:to])
		}
		return
	}
	var first, second [256]float64
	for v := range first {
		first[v], second[v] = float64(m.fraction*float64(v)), float64((1-m.fraction)*float64(v))
	}
	for i, v := range p.pix {
		p.pix[i] = byte(math.RoundToEven(first[v] + second[partner[i]]))
	}
}

// needed selects the rows that must be read to mix the wanted ones: the wanted rows and
// their partners.
func needed(wanted func(row int) bool, rows int) func(row int) bool {
	if wanted == nil {
		return nil
	}
	return func(row int) bool { return wanted(row) || wanted((row+1)%rows) }
}

// mixes refuses to cut parts from pictures that have a label for each pixel: the labels
// would not follow.
func (a Augment) mixes(info Info) error {
	if _, cut := a.mixing(); cut != nil && (info.Masks || len(info.LabelShape) > 1) {
		return fmt.Errorf("augmentation cutmix puts parts of pictures into others, and labels of pixels do not " +
			"follow; there is mixup for them")
	}
	return nil
}
