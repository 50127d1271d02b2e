package ptx

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// access is a load or a store of one value, or of 2 or 4 adjacent values.
type access struct {
	space    space
	any      bool // the address determines the memory space (generic addressing)
	readonly bool // through the read-only cache
	width    int  // bytes of one value
	signed   bool // the value is sign-extended in a wider register
	regs     []int
	base     int
	offset   uint64
}

// load compiles ld.global.nc.v2.f32 {%f1, %f2}, [%rd1+8].
func (c *compiler) load(st statement, suffixes []string) (op, error) {
	if len(st.args) != 2 {
		return op{}, fmt.Errorf("it has 2 operands")
	}
	wider := func(name string, width int) (int, error) { // a register may be wider than the loaded value
		r, err := c.target(name, 0)
		if err == nil && c.widths[r] < width {
			return c.target(name, width)
		}
		return r, err
	}
	a, err := c.access(suffixes, st.args[0], st.args[1], wider)
	return op{line: st.line, reads: []int{a.base}, writes: a.regs, run: a.load}, err
}

// store compiles st.shared.f32 [%rd1], %f1.
func (c *compiler) store(st statement, suffixes []string) (op, error) {
	if len(st.args) != 2 {
		return op{}, fmt.Errorf("it has 2 operands")
	}
	a, err := c.access(suffixes, st.args[1], st.args[0], c.operand)
	if a.readonly || err != nil {
		return op{}, fmt.Errorf("it cannot be stored so: %w", err)
	}
	return op{line: st.line, reads: append([]int{a.base}, a.regs...), run: a.store}, nil
}

// access compiles the common part of loads and stores; suffixes are the parts of the name
// after ld or st.
func (c *compiler) access(suffixes []string, values, address string,
	register func(string, int) (int, error)) (*access, error) {
	a := &access{any: true}
	vector := 1
	for _, suffix := range suffixes[:len(suffixes)-1] {
		switch suffix {
		case "global", "shared", "local", "const":
			a.any, a.space = false, map[string]space{"shared": shared, "local": local}[suffix]
		case "nc":
			a.readonly = true
		case "v2", "v4":
			vector = int(suffix[1] - '0')
		default:
			return a, fmt.Errorf(".%s is not known to this machine", suffix)
		}
	}
	kind := suffixes[len(suffixes)-1]
	a.width, a.signed = bits(kind)/8, kind[0] == 's'
	if a.width == 2 {
		return a, fmt.Errorf("values of 1, 4 or 8 bytes are what this machine watches over")
	}
	names := operands(strings.Trim(values, "{}"))
	if len(names) != vector {
		return a, fmt.Errorf("%d values, not %d", vector, len(names))
	}
	width := 8 * a.width
	if a.width == 1 {
		width = 0 // no register has 8 bits, so any width is allowed
	}
	for _, name := range names {
		r, err := register(name, width)
		if err != nil {
			return a, err
		}
		a.regs = append(a.regs, r)
	}
	return a, c.address(a, address)
}

// address parses [%rd1+8], [%rd1+-4], [name+4] or [name].
func (c *compiler) address(a *access, s string) (err error) {
	name, offset, has := strings.Cut(strings.Trim(s, "[]"), "+")
	if has {
		v, err := strconv.ParseInt(offset, 10, 64)
		if err != nil {
			return err
		}
		a.offset = uint64(v)
	}
	a.base, err = c.operand(name, 64)
	return err
}

func (a *access) load(b *block, lanes []int32) {
	base, size := b.reg[a.base], a.width*len(a.regs)
	for _, l := range lanes {
		r, at := b.locate(a, l, base[l]+a.offset, size)
		for k := range r.of(at, size) {
			b.reads(r, at/r.grain+k, l, a.readonly)
		}
		for _, reg := range a.regs {
			switch {
			case a.width == 1 && a.signed:
				b.reg[reg][l] = low(uint64(int64(int8(r.data[at]))), b.e.widths[reg])
			case a.width == 1:
				b.reg[reg][l] = uint64(r.data[at])
			case a.width == 8:
				b.reg[reg][l] = binary.LittleEndian.Uint64(r.data[at:])
			case a.signed:
				v := int32(binary.LittleEndian.Uint32(r.data[at:]))
				b.reg[reg][l] = low(uint64(int64(v)), b.e.widths[reg])
			default:
				b.reg[reg][l] = uint64(binary.LittleEndian.Uint32(r.data[at:]))
			}
			at += a.width
		}
	}
}

func (a *access) store(b *block, lanes []int32) {
	base, size := b.reg[a.base], a.width*len(a.regs)
	for _, l := range lanes {
		r, at := b.locate(a, l, base[l]+a.offset, size)
		for k := range r.of(at, size) {
			b.writes(r, at/r.grain+k, l)
		}
		for _, reg := range a.regs {
			switch a.width {
			case 1:
				r.data[at] = byte(b.reg[reg][l])
			case 4:
				binary.LittleEndian.PutUint32(r.data[at:], uint32(b.reg[reg][l]))
			case 8:
				binary.LittleEndian.PutUint64(r.data[at:], b.reg[reg][l])
			}
			at += a.width
		}
	}
}
