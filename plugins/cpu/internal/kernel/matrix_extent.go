package kernel

import (
	"math"
	"math/bits"
)

// Extent describes the magnitudes of values: the bits of the smallest that is not 0, and of
// the largest. NaN has larger bits than any number.
type Extent struct{ Least, Most uint32 }

// noExtent is the extent of zeros.
var noExtent = Extent{Least: math.MaxUint32}

// sizeOf returns the bits of the absolute value of v.
func sizeOf(v float32) uint32 { return math.Float32bits(v) &^ (1 << 31) }

// NoExtent returns the extent of no values, or of zeros.
func NoExtent() Extent { return noExtent }

// Join returns the extent of the values of e and o together.
func (e Extent) Join(o Extent) Extent { return Extent{min(e.Least, o.Least), max(e.Most, o.Most)} }

// exponents returns the exponents of the smallest and the largest value.
func (e Extent) exponents() (low, high int) { return int(e.Least>>23) - 127, int(e.Most>>23) - 127 }

// leastTerm is the smallest exponent of a value for which all three terms are normal numbers. A term may be
// as small as the value's last bit.
const leastTerm = -100

// Splits reports whether values of this extent can be split into three terms: no value is
// subnormal, and no value overflows when it is rounded.
func (e Extent) Splits() bool {
	least, most := e.exponents()
	return e.Most == 0 || least >= leastTerm && most < 127
}

// suits reports whether a sum of count products of values of extent e with weights of
// extent w keeps its precision: all values can be split, sums cannot overflow, and no
// product is too small. The terms of a product are flushed to 0 below 2^-126; the loss must
// be at most 2^-25 of the product.
func (e Extent) suits(w Extent, count int) bool {
	const leastProduct, mostSum = -98, 126
	if e.Most == 0 || w.Most == 0 {
		return e.Splits() && w.Splits()
	}
	low, high := e.exponents()
	lowest, highest := w.exponents()
	return e.Splits() && w.Splits() && low+lowest >= leastProduct &&
		high+highest+3+bits.Len(uint(count)) <= mostSum
}

// extentLanes is the extent of every Lanes-th value. It has the bits of the smallest value minus 1,
// modulo 2^32, so that a zero is never the smallest, and then the bits of the largest value.
type extentLanes [2 * Lanes]uint32

// noLanes is the extent of lanes that have only zeros.
var noLanes = func() (l extentLanes) {
	for i := range Lanes {
		l[i] = math.MaxUint32
	}
	return l
}()

// add includes a value of a lane.
func (l *extentLanes) add(lane int, v float32) {
	l[lane], l[Lanes+lane] = min(l[lane], sizeOf(v)-1), max(l[Lanes+lane], sizeOf(v))
}

// extent returns the extent of all lanes.
func (l *extentLanes) extent() Extent {
	e := noExtent
	for i := range Lanes {
		e = e.Join(Extent{l[i], l[Lanes+i]})
	}
	if e.Least < noExtent.Least {
		e.Least++
	}
	return e
}
