package kernel

import (
	"math"
	"math/bits"
)

// Extent tells the sizes of values: the bits of the smallest that is not 0, and
// of the largest. Those of NaN are larger than any.
type Extent struct{ Least, Most uint32 }

// noExtent is that of zeros.
var noExtent = Extent{Least: 1<<32 - 1}

// add takes a value in.
func (e *Extent) add(v float32) {
	size := math.Float32bits(v) &^ (1 << 31)
	e.Most = max(e.Most, size)
	if size != 0 {
		e.Least = min(e.Least, size)
	}
}

// Join returns the extent of what either covers.
func (e Extent) Join(o Extent) Extent { return Extent{min(e.Least, o.Least), max(e.Most, o.Most)} }

// exponents returns those of the smallest and the largest value.
func (e Extent) exponents() (least, most int) { return int(e.Least>>23) - 127, int(e.Most>>23) - 127 }

// leastPart is the exponent from which on all parts of a value are normal: they
// are multiples of its last bit.
const leastPart = -100

// Splits reports whether weights of this extent can be split in three parts.
func (e Extent) Splits() bool {
	least, most := e.exponents()
	return e.Most == 0 || least >= leastPart && most < 127
}

// suits reports whether the products of so many values of extent e with weights
// of extent w keep their precision: no part is subnormal, no sum overflows, and
// no product is so small (its parts are flushed to 0 below 2^-126) that what is
// lost is more than 2^-25 of it.
func (e Extent) suits(w Extent, count int) bool {
	const leastProduct, mostSum = -98, 126
	if e.Most == 0 || w.Most == 0 {
		return e.Splits() && w.Splits()
	}
	low, high := e.exponents()
	lowest, highest := w.exponents()
	return e.Splits() && w.Splits() && low+lowest >= leastProduct && high+highest+3+bits.Len(uint(count)) <= mostSum
}
