package ptx

import "fmt"

// relations are the possible results of a comparison: less, equal, greater, or unordered if an operand is
// NaN.
const (
	less = 1 << iota
	equal
	greater
	unordered
)

var relations = map[string]int{
	"eq": equal, "ne": less | greater, "lt": less, "le": less | equal, "gt": greater, "ge": greater | equal,
}

func init() {
	for _, w := range []int{16, 32, 64} {
		of := func(x, y uint64) int { return order(signed(x, w), signed(y, w)) }
		for name, want := range relations {
			compares(fmt.Sprintf("%s.s%d", name, w), w, want, of)
			compares(fmt.Sprintf("%s.u%d", name, w), w, want, order[uint64])
		}
		for name, as := range map[string]string{"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"} {
			compares(fmt.Sprintf("%s.u%d", name, w), w, relations[as], order[uint64])
		}
		for _, name := range []string{"eq", "ne"} {
			compares(fmt.Sprintf("%s.b%d", name, w), w, relations[name], order[uint64])
		}
	}
	floats("f32", 32, func(x, y uint64) int { return order(f32(x), f32(y)) })
	floats("f64", 64, func(x, y uint64) int { return order(f64(x), f64(y)) })
}

func floats(kind string, w int, of func(x, y uint64) int) {
	for name, want := range relations {
		compares(name+"."+kind, w, want, of)
		compares(name+"u."+kind, w, want|unordered, of)
	}
	compares("num."+kind, w, less|equal|greater, of)
	compares("nan."+kind, w, unordered, of)
}

func compares(name string, w, want int, of func(x, y uint64) int) {
	add("setp."+name, form{out: 1, in: []int{w, w}, two: func(x, y uint64) uint64 {
		if of(x, y)&want != 0 {
			return 1
		}
		return 0
	}})
}

func order[T int64 | uint64 | float32 | float64](x, y T) int {
	switch {
	case x < y:
		return less
	case x > y:
		return greater
	case x == y:
		return equal
	}
	return unordered
}
