package ptx

import (
	"fmt"
	"strings"
)

// form is an instruction that computes: the widths of its operands and its result, and the
// function of one thread. Values are in the low bits of a word; the other bits are zero.
type form struct {
	out   int
	in    []int
	one   func(x uint64) uint64
	two   func(x, y uint64) uint64
	three func(x, y, z uint64) uint64
	loose bool // registers may be wider than the operands and the result
}

// forms has all instructions that compute, by their full names.
var forms = map[string]form{}

// instruction compiles an instruction that is not a branch.
func (c *compiler) instruction(st statement) (op, error) {
	if st.guard != "" {
		return op{}, fmt.Errorf("a guard stands before branches only")
	}
	family, rest, _ := strings.Cut(st.op, ".")
	switch {
	case family == "ld" && strings.HasPrefix(rest, "param"):
		st.op = c.parameter(st.args[0], rest[len("param."):])
	case family == "ld":
		return c.load(st, strings.Split(rest, "."))
	case family == "st":
		return c.store(st, strings.Split(rest, "."))
	case family == "cvta":
		st.op = "mov.u64" // an address is the same in all memory spaces
	case family == "mma":
		return c.mma(st, rest)
	}
	f, ok := forms[st.op]
	if !ok {
		return op{}, refused(st.op)
	}
	return c.compute(st, f)
}

// parameter returns the name of the instruction that reads a parameter of a kind. The register may have
// more bits.
func (c *compiler) parameter(register, kind string) string {
	if r, ok := c.regs[register]; ok && c.widths[r] > bits(kind) {
		return fmt.Sprintf("cvt.%c%d.%s", kind[0], c.widths[r], kind)
	}
	return "mov." + kind
}

// refused returns an error that explains why an instruction is not supported.
func refused(name string) error {
	for _, what := range []string{".ftz", ".approx", ".full"} {
		if strings.Contains(name, what) {
			return fmt.Errorf("%s is not IEEE 754", what[1:])
		}
	}
	if strings.HasSuffix(name, ".f32") || strings.HasSuffix(name, ".f64") {
		return fmt.Errorf("this machine does not know it; without .rn the driver's compiler could fuse it")
	}
	return fmt.Errorf("this machine does not know it")
}

// compute compiles an instruction by its form.
func (c *compiler) compute(st statement, f form) (op, error) {
	if len(st.args) != 1+len(f.in) {
		return op{}, fmt.Errorf("it has %d operands, not %d", 1+len(f.in), len(st.args))
	}
	widths := append([]int{f.out}, f.in...)
	if f.loose {
		widths = make([]int, len(widths))
	}
	d, err := c.target(st.args[0], widths[0])
	if err != nil {
		return op{}, err
	}
	o := op{line: st.line, writes: []int{d}}
	for i, name := range st.args[1:] {
		r, err := c.operand(name, widths[i+1])
		if err != nil {
			return op{}, err
		}
		o.reads = append(o.reads, r)
	}
	o.run = f.lanes(d, o.reads)
	return o, nil
}

// lanes returns a function that computes the form for many lanes. A register is a row with the
// values of all lanes.
func (f form) lanes(d int, in []int) func(b *block, lanes []int32) {
	switch {
	case f.one != nil:
		return func(b *block, lanes []int32) {
			to, x := b.reg[d], b.reg[in[0]]
			for _, l := range lanes {
				to[l] = f.one(x[l])
			}
		}
	case f.two != nil:
		return func(b *block, lanes []int32) {
			to, x, y := b.reg[d], b.reg[in[0]], b.reg[in[1]]
			for _, l := range lanes {
				to[l] = f.two(x[l], y[l])
			}
		}
	}
	return func(b *block, lanes []int32) {
		to, x, y, z := b.reg[d], b.reg[in[0]], b.reg[in[1]], b.reg[in[2]]
		for _, l := range lanes {
			to[l] = f.three(x[l], y[l], z[l])
		}
	}
}

// add adds a form to the table. A repeated name is a bug in this package.
func add(name string, f form) {
	if _, ok := forms[name]; ok {
		panic("ptx: two forms of " + name)
	}
	forms[name] = f
}
