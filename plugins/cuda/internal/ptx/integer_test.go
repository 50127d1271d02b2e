package ptx

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

// integers returns values of w bits: the largest and the smallest, and some between them.
func integers(w int) []uint64 {
	top := uint64(1) << (w - 1)
	list := []uint64{0, 1, 2, 3, 7, 31, 32, 100, top - 1, top, top + 1, low(^uint64(0), w), low(^uint64(1), w)}
	for i := uint64(1); i < 20; i++ {
		list = append(list, low(i*0x9e3779b97f4a7c15, w))
	}
	return list
}

// whole returns the number that the low w bits of x represent.
func whole(kind string, w int, x uint64) *big.Int {
	if kind == "s" {
		return big.NewInt(signed(x, w))
	}
	return new(big.Int).SetUint64(x)
}

// cut returns the low w bits of v.
func cut(v *big.Int, w int) uint64 {
	ones := new(big.Int).SetUint64(low(^uint64(0), w))
	return new(big.Int).And(v, ones).Uint64()
}

// TestIntegers compares every instruction on integers with math/big.
func TestIntegers(t *testing.T) {
	for _, kind := range []string{"s", "u"} {
		for _, w := range []int{16, 32, 64} {
			for _, x := range integers(w) {
				for _, y := range integers(w) {
					pair(t, kind, w, x, y)
				}
			}
		}
	}
}

func pair(t *testing.T, kind string, w int, x, y uint64) {
	t.Helper()
	a, b, name := whole(kind, w, x), whole(kind, w, y), fmt.Sprintf(".%s%d", kind, w)
	product := new(big.Int).Mul(a, b)
	want := map[string]uint64{
		"add": cut(new(big.Int).Add(a, b), w), "sub": cut(new(big.Int).Sub(a, b), w),
		"mul.lo": cut(product, w), "mul.hi": cut(new(big.Int).Rsh(product, uint(w)), w),
		"min": x, "max": y,
	}
	if a.Cmp(b) > 0 {
		want["min"], want["max"] = y, x
	}
	if w < 64 {
		want["mul.wide"] = cut(product, 2*w)
	}
	if y != 0 {
		want["div"], want["rem"] = cut(new(big.Int).Quo(a, b), w), cut(new(big.Int).Rem(a, b), w)
	}
	for op, v := range want {
		if got := forms[op+name].two(x, y); got != v {
			t.Fatalf("%s%s(%#x, %#x) = %#x, want %#x", op, name, x, y, got, v)
		}
	}
	if got, v := forms["mad.lo"+name].three(x, y, x), cut(new(big.Int).Add(product, a), w); got != v {
		t.Fatalf("mad.lo%s(%#x, %#x, %#x) = %#x, want %#x", name, x, y, x, got, v)
	}
	for op, v := range map[string]bool{"eq": x == y, "ne": x != y, "lt": a.Cmp(b) < 0, "le": a.Cmp(b) <= 0,
		"gt": a.Cmp(b) > 0, "ge": a.Cmp(b) >= 0} {
		if got := forms["setp."+op+name].two(x, y) == 1; got != v {
			t.Fatalf("setp.%s%s(%#x, %#x) = %v", op, name, x, y, got)
		}
	}
}

// TestShifts checks that a shift by more than the width has the same result as a shift by the width.
func TestShifts(t *testing.T) {
	for _, w := range []int{16, 32, 64} {
		for _, x := range integers(w) {
			for _, n := range []uint64{0, 1, 5, 15, 16, 31, 32, 33, 63, 64, 65, 1 << 31} {
				by := uint(min(n, 64))
				for op, want := range map[string]uint64{
					fmt.Sprintf("shl.b%d", w): cut(new(big.Int).Lsh(whole("u", w, x), by), w),
					fmt.Sprintf("shr.u%d", w): cut(new(big.Int).Rsh(whole("u", w, x), by), w),
					fmt.Sprintf("shr.s%d", w): cut(new(big.Int).Rsh(whole("s", w, x), by), w),
				} {
					if got := forms[op].two(x, n); got != want {
						t.Fatalf("%s(%#x, %d) = %#x, want %#x", op, x, n, got, want)
					}
				}
			}
		}
	}
}

// TestIntegersAndFloats checks conversions in both directions, including numbers that do not fit.
func TestIntegersAndFloats(t *testing.T) {
	for _, kind := range []string{"s", "u"} {
		for _, w := range []int{16, 32, 64} {
			name := fmt.Sprintf("%s%d", kind, w)
			for _, x := range integers(w) {
				v := new(big.Float).SetInt(whole(kind, w, x))
				if !same(32, forms["cvt.rn.f32."+name].one(x), rounded(32, v, 0)) {
					t.Fatalf("cvt.rn.f32.%s(%#x)", name, x)
				}
				if !same(64, forms["cvt.rn.f64."+name].one(x), rounded(64, v, 0)) {
					t.Fatalf("cvt.rn.f64.%s(%#x)", name, x)
				}
			}
			for _, x := range doubles() {
				if got, want := forms["cvt.rzi."+name+".f64"].one(x), truncated(kind, w, f64(x)); got != want {
					t.Fatalf("cvt.rzi.%s.f64(%g) = %#x, want %#x", name, f64(x), got, want)
				}
			}
		}
	}
}

// truncated returns x rounded toward zero and clamped to the range of w bits; NaN is zero.
func truncated(kind string, w int, x float64) uint64 {
	least, most := big.NewInt(0), new(big.Int).Lsh(big.NewInt(1), uint(w))
	if kind == "s" {
		most.Rsh(most, 1)
		least.Neg(most)
	}
	most.Sub(most, big.NewInt(1))
	switch {
	case x != x:
		return 0
	case math.IsInf(x, 1):
		return cut(most, w)
	case math.IsInf(x, -1):
		return cut(least, w)
	}
	v, _ := big.NewFloat(x).Int(nil)
	if v.Cmp(most) > 0 {
		v = most
	} else if v.Cmp(least) < 0 {
		v = least
	}
	return cut(v, w)
}

// TestWidths checks that integers are narrowed and widened correctly.
func TestWidths(t *testing.T) {
	for name, c := range map[string][2]uint64{
		"cvt.u32.u64": {0x1_8000_0001, 0x8000_0001}, "cvt.s64.s32": {0x8000_0001, 0xffff_ffff_8000_0001},
		"cvt.u64.u32": {0x8000_0001, 0x8000_0001}, "cvt.s32.s8": {0x80, 0xffff_ff80}, "cvt.u16.u32": {0x1_ffff, 0xffff},
		"neg.s32": {1, 0xffff_ffff}, "abs.s32": {0xffff_ffff, 1}, "not.b16": {1, 0xfffe}, "not.pred": {1, 0},
		"clz.b32": {1, 31}, "clz.b64": {0, 64}, "popc.b32": {0xf0f0, 8},
	} {
		if got := forms[name].one(c[0]); got != c[1] {
			t.Errorf("%s(%#x) = %#x, want %#x", name, c[0], got, c[1])
		}
	}
	if forms["selp.f32"].three(1, 2, 1) != 1 || forms["selp.f32"].three(1, 2, 0) != 2 {
		t.Error("selp chooses the wrong one")
	}
}

// TestUnordered checks comparisons with NaN. They are false, except for predicates with the suffix u.
func TestUnordered(t *testing.T) {
	nan, one := uint64(0x7fffffff), single(1)
	for name := range relations {
		if forms["setp."+name+".f32"].two(nan, one) != 0 || forms["setp."+name+"u.f32"].two(one, nan) != 1 {
			t.Errorf("setp.%s of a NaN", name)
		}
	}
	if forms["setp.num.f32"].two(one, nan) != 0 || forms["setp.nan.f32"].two(one, nan) != 1 {
		t.Error("setp.num or setp.nan of a NaN")
	}
	if forms["setp.eq.f32"].two(0, 1<<31) != 1 || forms["setp.lt.f32"].two(1<<31, 0) != 0 {
		t.Error("the zeros differ")
	}
}

// TestFields checks the fields of a word as the PTX ISA defines them. A field begins at bit number at of the
// word, so its bit i is bit i+at of the word. Further bits are copies of the sign: the highest bit of the
// field that is in the word.
func TestFields(t *testing.T) {
	for _, x := range integers(32) {
		for _, at := range []uint64{0, 1, 8, 24, 31, 32, 40, 255, 256} {
			for _, n := range []uint64{0, 1, 8, 31, 32, 33, 255, 257} {
				var u, s uint64
				from, length := at%256, n%256
				for i := range uint64(32) {
					sign := uint64(0)
					if length > 0 {
						sign = x >> min(from+length-1, 31) & 1
					}
					if i < length && from+i < 32 {
						u |= x >> (from + i) & 1 << i
						s |= x >> (from + i) & 1 << i
					} else {
						s |= sign << i
					}
				}
				if got := forms["bfe.u32"].three(x, at, n); got != u {
					t.Errorf("bfe.u32 %#x, %d, %d: %#x, want %#x", x, at, n, got, u)
				}
				if got := forms["bfe.s32"].three(x, at, n); got != s {
					t.Errorf("bfe.s32 %#x, %d, %d: %#x, want %#x", x, at, n, got, s)
				}
			}
		}
	}
}

// TestDot checks products of unsigned and signed bytes, including the least and the largest.
func TestDot(t *testing.T) {
	const first, second, third = -5 + 255*127 + 1*-128, 255 * -128 * 4, 4*200*-1 - 1
	for _, c := range []struct{ x, y, z uint32 }{{0x01ff0000, 0x807f0000, 0xfffffffb},
		{0xffffffff, 0x80808080, 0}, {0xc8c8c8c8, 0xffffffff, 0xffffffff}} {
		got := int32(forms["dp4a.u32.s32"].three(uint64(c.x), uint64(c.y), uint64(c.z)))
		want := map[uint32]int32{0x01ff0000: first, 0xffffffff: second, 0xc8c8c8c8: third}[c.x]
		if got != want {
			t.Errorf("%#x by %#x and %d: %d, want %d", c.x, c.y, int32(c.z), got, want)
		}
	}
}
