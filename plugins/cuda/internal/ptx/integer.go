package ptx

import (
	"fmt"
	mathbits "math/bits"
)

// signed returns the low w bits of x as a signed number.
func signed(x uint64, w int) int64 { return int64(x<<(64-w)) >> (64 - w) }

// low returns the low w bits of x.
func low(x uint64, w int) uint64 { return x & (1<<w - 1) }

func init() {
	for _, w := range []int{16, 32, 64} {
		addSums(w)
		addQuotients(w)
		addShifts(w)
		addLogic(w, fmt.Sprintf("b%d", w))
		addMoves(w)
		if w < 64 {
			addWide(w)
		}
	}
	addLogic(1, "pred")
	add("mov.pred", form{out: 1, in: []int{1}, one: func(x uint64) uint64 { return x }})
	addCounts()
	addFields()
	add("dp4a.u32.s32", form{out: 32, in: []int{32, 32, 32}, three: dot})
}

// dot returns z plus the products of four unsigned bytes with four signed bytes.
func dot(x, y, z uint64) uint64 {
	for i := 0; i < 32; i += 8 {
		z += uint64(int64(x>>i&255) * signed(y>>i&255, 8))
	}
	return low(z, 32)
}

func two(w int, f func(x, y uint64) uint64) form { return form{out: w, in: []int{w, w}, two: f} }

func one(w int, f func(x uint64) uint64) form { return form{out: w, in: []int{w}, one: f} }

// addSums adds sums and products. Their bits are the same for signed and unsigned numbers.
func addSums(w int) {
	for _, t := range []string{"s", "u"} {
		name := fmt.Sprintf("%s%d", t, w)
		add("add."+name, two(w, func(x, y uint64) uint64 { return low(x+y, w) }))
		add("sub."+name, two(w, func(x, y uint64) uint64 { return low(x-y, w) }))
		add("mul.lo."+name, two(w, func(x, y uint64) uint64 { return low(x*y, w) }))
		add("mad.lo."+name, form{out: w, in: []int{w, w, w},
			three: func(x, y, z uint64) uint64 { return low(x*y+z, w) }})
	}
	add(fmt.Sprintf("neg.s%d", w), one(w, func(x uint64) uint64 { return low(-x, w) }))
	add(fmt.Sprintf("abs.s%d", w), one(w, func(x uint64) uint64 {
		if signed(x, w) < 0 {
			return low(-x, w)
		}
		return x
	}))
}

func addQuotients(w int) {
	s, u := fmt.Sprintf("s%d", w), fmt.Sprintf("u%d", w)
	add("min."+s, two(w, func(x, y uint64) uint64 { return low(uint64(min(signed(x, w), signed(y, w))), w) }))
	add("max."+s, two(w, func(x, y uint64) uint64 { return low(uint64(max(signed(x, w), signed(y, w))), w) }))
	add("min."+u, two(w, func(x, y uint64) uint64 { return min(x, y) }))
	add("max."+u, two(w, func(x, y uint64) uint64 { return max(x, y) }))
	add("div."+s, two(w, func(x, y uint64) uint64 { return low(uint64(signed(x, w)/nonzero(signed(y, w))), w) }))
	add("rem."+s, two(w, func(x, y uint64) uint64 { return low(uint64(signed(x, w)%nonzero(signed(y, w))), w) }))
	add("div."+u, two(w, func(x, y uint64) uint64 { return x / nonzero(y) }))
	add("rem."+u, two(w, func(x, y uint64) uint64 { return x % nonzero(y) }))
	add("mul.hi."+u, two(w, func(x, y uint64) uint64 {
		hi, lo := mathbits.Mul64(x, y)
		return low(hi<<(64-w)|lo>>w, w)
	}))
	add("mul.hi."+s, two(w, func(x, y uint64) uint64 { return high(signed(x, w), signed(y, w), w) }))
}

// nonzero returns the divisor y. It ends the launch if y is zero.
func nonzero[T int64 | uint64](y T) T {
	if y == 0 {
		fail(0, "an integer is divided by zero")
	}
	return y
}

// high returns the upper w bits of the product of two signed numbers of w bits.
func high(x, y int64, w int) uint64 {
	hi, lo := mathbits.Mul64(uint64(x), uint64(y))
	if x < 0 {
		hi -= uint64(y)
	}
	if y < 0 {
		hi -= uint64(x)
	}
	if w == 64 {
		return hi
	}
	return low(lo>>w, w)
}

// addWide adds products with twice the width of their operands.
func addWide(w int) {
	add(fmt.Sprintf("mul.wide.u%d", w), form{out: 2 * w, in: []int{w, w},
		two: func(x, y uint64) uint64 { return x * y }})
	add(fmt.Sprintf("mul.wide.s%d", w), form{out: 2 * w, in: []int{w, w},
		two: func(x, y uint64) uint64 { return low(uint64(signed(x, w)*signed(y, w)), 2*w) }})
	add(fmt.Sprintf("mad.wide.u%d", w), form{out: 2 * w, in: []int{w, w, 2 * w},
		three: func(x, y, z uint64) uint64 { return low(x*y+z, 2*w) }})
	add(fmt.Sprintf("mad.wide.s%d", w), form{out: 2 * w, in: []int{w, w, 2 * w},
		three: func(x, y, z uint64) uint64 { return low(uint64(signed(x, w)*signed(y, w))+z, 2*w) }})
}

// addShifts adds shifts. A shift by more than the width is a shift by the width.
func addShifts(w int) {
	shift := func(f func(x, n uint64) uint64) form { return form{out: w, in: []int{w, 32}, two: f} }
	add(fmt.Sprintf("shl.b%d", w), shift(func(x, n uint64) uint64 { return low(x<<n, w) }))
	right := shift(func(x, n uint64) uint64 { return x >> n })
	add(fmt.Sprintf("shr.u%d", w), right)
	add(fmt.Sprintf("shr.b%d", w), right)
	add(fmt.Sprintf("shr.s%d", w), shift(func(x, n uint64) uint64 { return low(uint64(signed(x, w)>>n), w) }))
}

func addLogic(w int, kind string) {
	add("and."+kind, two(w, func(x, y uint64) uint64 { return x & y }))
	add("or."+kind, two(w, func(x, y uint64) uint64 { return x | y }))
	add("xor."+kind, two(w, func(x, y uint64) uint64 { return x ^ y }))
	add("not."+kind, one(w, func(x uint64) uint64 { return low(^x, w) }))
}

func addCounts() {
	for _, w := range []int{32, 64} {
		count := func(f func(x uint64) int) form {
			return form{out: 32, in: []int{w}, one: func(x uint64) uint64 { return uint64(f(x)) }}
		}
		add(fmt.Sprintf("popc.b%d", w), count(mathbits.OnesCount64))
		add(fmt.Sprintf("clz.b%d", w), count(func(x uint64) int { return mathbits.LeadingZeros64(x) - 64 + w }))
	}
}

// addFields adds the extraction of n bits of a word. Bits beyond the word are 0, or copies of its sign.
func addFields() {
	field := func(f func(x, at, n uint64) uint64) form {
		return form{out: 32, in: []int{32, 32, 32},
			three: func(x, at, n uint64) uint64 { return f(x, low(at, 8), min(low(n, 8), 32)) }}
	}
	add("bfe.u32", field(func(x, at, n uint64) uint64 { return low(x>>at, int(n)) }))
	add("bfe.s32", field(func(x, at, n uint64) uint64 {
		if n == 0 {
			return 0
		}
		return low(uint64(signed(uint64(signed(x, 32)>>at), int(n))), 32)
	}))
}

// addMoves adds moves and selections. They are the same for all types of a width.
func addMoves(w int) {
	for _, t := range []string{"b", "u", "s", "f"} {
		if t == "f" && w == 16 {
			continue
		}
		name := fmt.Sprintf("%s%d", t, w)
		add("mov."+name, one(w, func(x uint64) uint64 { return x }))
		add("selp."+name, form{out: w, in: []int{w, w, 1}, three: func(x, y, p uint64) uint64 {
			if p != 0 {
				return x
			}
			return y
		}})
	}
}
