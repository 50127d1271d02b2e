package shm

import (
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/tensor"
)

// maxSegments is the maximum number of pieces in a round. Each partial value of a slot has a byte
// for each piece.
const maxSegments = 512

// sharedBytes is the minimum size of a piece that is divided among the members.
const sharedBytes = 16 << 10

// piece is the part of one value that one round reduces: the units [from, to). A unit of a
// sum is an element, a unit of moments is a channel. In a slot, a piece of moments is
// stored as the moments of its channels.
type piece struct {
	value    *collective.Reduction
	index    int // index in the round
	from, to int
	offset   int // offset in the round, in bytes
}

// next returns the pieces of the next round, and the remaining values. If a value is split, the
// first remaining value begins at the first unit that is not in the round.
func (l *lane) next(values []remainder) ([]piece, []remainder) {
	var pieces []piece
	capacity, offset := l.partialBytes(), 0
	for len(values) > 0 && len(pieces) < maxSegments {
		v := &values[0]
		p := piece{value: v.Reduction, index: len(pieces), from: v.from, offset: offset}
		p.to = min(p.all(), p.from+p.unitsIn(capacity-offset))
		if p.to == p.from && p.all() > p.from {
			break // the value begins in the next round
		}
		pieces = append(pieces, p)
		offset += (p.bytes() + 7) &^ 7
		if v.from = p.to; v.from < p.all() {
			break
		}
		values = values[1:]
	}
	return pieces, values
}

// remainder is the part of a value that has not been reduced yet. It begins at unit from.
type remainder struct {
	*collective.Reduction
	from int
}

func (p *piece) moments() bool { return p.value.Op == collective.MergeMoments }

// size returns the number of bytes of a unit.
func (p *piece) size() int {
	if p.moments() {
		return 2 * 8
	}
	return p.value.Result.DType.Size()
}

// all returns the number of units of the whole value.
func (p *piece) all() int {
	if p.moments() {
		return len(p.value.Result.Bytes) / 16
	}
	return len(p.value.Result.Bytes) / p.size()
}

// head returns the number of bytes of a piece that belong to no unit. For moments these bytes are the
// count.
func (p *piece) head() int {
	if p.moments() {
		return 8
	}
	return 0
}

func (p *piece) units() int { return p.to - p.from }
func (p *piece) bytes() int { return p.head() + p.units()*p.size() }

// unitsIn returns the number of units that fit into the given number of bytes.
func (p *piece) unitsIn(bytes int) int { return max(0, (bytes-p.head())/p.size()) }

// shared reports whether every member combines a range of the piece.
func (p *piece) shared() bool { return !p.moments() && p.bytes() >= sharedBytes }

// accumulator returns the memory for combining units [from, to) of the piece. It is a part of the
// result. A piece with only some channels of moments has new memory, because the parts of a
// channel are not contiguous in the result.
func (p *piece) accumulator(from, to int) tensor.Tensor {
	t := tensor.Tensor{DType: p.value.Result.DType}
	switch {
	case p.moments() && p.units() == p.all():
		return p.value.Result
	case p.moments():
		return tensor.New(t.DType, 1+2*p.units())
	}
	t.Shape = []int{to - from}
	t.Bytes = p.slice(p.value.Result.Bytes, from, to)
	return t
}

// slice returns units [from, to) of the piece, in the bytes of a sum's partial value or result.
func (p *piece) slice(value []byte, from, to int) []byte {
	return value[(p.from+from)*p.size() : (p.from+to)*p.size()]
}

// pack writes the piece of partial moments into a slot.
func (p *piece) pack(dst, moments []byte) {
	c, n := 8*p.all(), 8*p.units()
	copy(dst, moments[:8])
	copy(dst[8:], moments[8+8*p.from:][:n])
	copy(dst[8+n:], moments[8+c+8*p.from:][:n])
}

// unpack copies combined moments to the result, unless they are already there.
func (p *piece) unpack(m tensor.Tensor) {
	if p.units() == p.all() {
		return
	}
	dst, c, n := p.value.Result.Bytes, 8*p.all(), 8*p.units()
	copy(dst[:8], m.Bytes)
	copy(dst[8+8*p.from:][:n], m.Bytes[8:])
	copy(dst[8+c+8*p.from:][:n], m.Bytes[8+n:])
}
