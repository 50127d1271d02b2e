package main

import (
	"fmt"
	"math"
	"slices"
)

// numbers are constants that are elements of vector registers. Instructions multiply vectors of the same
// kind by one of these elements.
type numbers struct {
	*file
	kind   kind
	first  int // first register
	values []float64
}

// kind is the type of a vector's elements.
type kind struct {
	size                 int // size of an element in bytes
	plus, minus          uint32
	add, subtract, times uint32 // opcodes with one element as operand
}

var (
	singles = kind{4, 0x4e20d400, 0x4ea0d400, 0x4f801000, 0x4f805000, 0x4f809000}
	doubles = kind{8, 0x4e60d400, 0x4ee0d400, 0x4fc01000, 0x4fc05000, 0x4fc09000}
)

func (k kind) name() string { return map[int]string{4: "4S", 8: "2D"}[k.size] }

// bits returns the bits of v as an element of kind k.
func (k kind) bits(v float64) uint64 {
	if k.size == 8 {
		return math.Float64bits(v)
	}
	if float64(float32(v)) != v {
		panic("neon: a constant that is no float32")
	}
	return uint64(math.Float32bits(float32(v)))
}

// numbers writes the loads of constants into registers from first on. address is a register for the address
// of the constants.
func (f *file) numbers(k kind, first, address int, values ...float64) *numbers {
	n := &numbers{file: f, kind: k, first: first}
	table, size := f.name+"Numbers<>", k.size
	for _, v := range values {
		if !slices.Contains(n.values, v) {
			fmt.Fprintf(&f.tables, "\nDATA %s+%d(SB)/%d, $0x%0*x", table, len(n.values)*size, size, 2*size, k.bits(v))
			n.values = append(n.values, v)
		}
	}
	count := (len(n.values)*size + 15) / 16
	if count == 0 {
		return n
	}
	if first+count > 32 {
		panic("neon: too many numbers in " + f.name)
	}
	fmt.Fprintf(&f.tables, "\nGLOBL %s(SB), RODATA|NOPTR, $%d\n", table, 16*count)
	f.op("MOVD $%s(SB), R%d", table, address)
	for r := 0; r < count; r += 4 {
		some := min(4, count-r)
		f.op("VLD1.P %d(R%d), %s", 16*some, address, vectors(first+r, some))
	}
	return n
}

// by writes an instruction with a vector and the constant v as operands.
func (n *numbers) by(code uint32, name string, d, x int, v float64) {
	at := slices.Index(n.values, v)
	if at < 0 {
		panic(fmt.Sprintf("neon: %s has no number %v", n.name, v))
	}
	each := 16 / n.kind.size
	r, i := n.first+at/each, at%each
	place := uint32(i) << 11
	if each == 4 {
		place = uint32(i&1)<<21 | uint32(i>>1)<<11
	}
	kind := n.kind.name()
	n.word(code|place|uint32(r)<<16|uint32(x)<<5|uint32(d), "%s V%d.%s, V%d.%s, V%d.%s[%d]",
		name, d, kind, x, kind, r, kind[1:], i)
}

// plus sets d to a + b, minus to a - b.
func (n *numbers) plus(d, a, b int)  { n.three(n.kind.plus, "FADD", n.kind.name(), d, a, b) }
func (n *numbers) minus(d, a, b int) { n.three(n.kind.minus, "FSUB", n.kind.name(), d, a, b) }

// add sets d to a + v*x, rounded once. If v is 1 or -1, it adds or subtracts x, with the same result.
func (n *numbers) add(d, a int, v float64, x int) {
	switch v {
	case 1:
		n.plus(d, a, x)
		return
	case -1:
		n.minus(d, a, x)
		return
	}
	if d != a {
		n.move(d, a)
	}
	if slices.Contains(n.values, v) {
		n.by(n.kind.add, "FMLA", d, x, v)
	} else {
		n.by(n.kind.subtract, "FMLS", d, x, -v)
	}
}

// times sets d to v*x.
func (n *numbers) times(d int, v float64, x int) { n.by(n.kind.times, "FMUL", d, x, v) }
