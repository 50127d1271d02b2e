package ptx

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// warpSize is the number of threads of a warp. Threads are numbered along x, then y, then z.
const warpSize = 32

// A product is an mma.sync of bytes: D = A*B + C, where A is rows x depth, B depth x 8, C and D rows x 8. The
// threads of a warp hold the matrices together, in registers of four bytes or one sum (PTX ISA, "Matrix
// Fragments for mma.m8n8k16" and "... mma.m16n8k32").
type product struct {
	rows, depth      int
	signedA, signedB bool
	a, b, c, d       []int // registers
}

// mma compiles mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {d}, {a}, {b}, {c}; name is the part of the
// instruction's name after mma.
func (c *compiler) mma(st statement, name string) (op, error) {
	words := strings.Split(name, ".")
	if slices.Contains(words, "satfinite") {
		return op{}, fmt.Errorf("sums that saturate depend on their order")
	}
	p, ok := productOf(words)
	if !ok {
		return op{}, refused(st.op)
	}
	if len(st.args) != 4 {
		return op{}, fmt.Errorf("it has 4 operands, not %d", len(st.args))
	}
	sums, lines := p.rows*8/warpSize, p.rows*p.depth/4/warpSize
	o := op{line: st.line}
	for i, to := range []struct {
		regs  *[]int
		count int
		find  func(string, int) (int, error)
	}{
		{&p.d, sums, c.target}, {&p.a, lines, c.operand}, {&p.b, p.depth / 16, c.operand}, {&p.c, sums, c.operand},
	} {
		names := operands(strings.Trim(st.args[i], "{}"))
		if len(names) != to.count {
			return op{}, fmt.Errorf("operand %d has %d registers, not %d", i, len(names), to.count)
		}
		for _, name := range names {
			r, err := to.find(name, 32)
			if err != nil {
				return op{}, err
			}
			*to.regs = append(*to.regs, r)
		}
	}
	o.writes, o.reads, o.run = p.d, slices.Concat(p.a, p.b, p.c), p.run
	return o, nil
}

// productOf returns the shape and the types of the instruction with these words after mma. It reports false
// if this machine does not know it.
func productOf(words []string) (*product, bool) {
	if len(words) != 9 {
		return nil, false
	}
	shapes := map[string]product{"m16n8k32": {rows: 16, depth: 32}, "m8n8k16": {rows: 8, depth: 16}}
	p, ok := shapes[words[2]]
	types := map[string]bool{"u8": false, "s8": true}
	var a, b bool
	p.signedA, a = types[words[6]]
	p.signedB, b = types[words[7]]
	words[2], words[6], words[7] = "", "", ""
	return &p, ok && a && b && strings.Join(words, ".") == "sync.aligned..row.col.s32...s32"
}

// run computes the product for the warps of lanes. All threads of a warp must take part.
func (p *product) run(b *block, lanes []int32) {
	var count [mostOfBlock / warpSize]int
	for _, l := range lanes {
		count[l/warpSize]++
	}
	for w, n := range count {
		switch n {
		case 0:
		case warpSize:
			p.warp(b, w*warpSize)
		default:
			lane := slices.IndexFunc(lanes, func(l int32) bool { return int(l/warpSize) == w })
			fail(lanes[lane], "%d of %d threads of the warp compute a product of matrices, all have to", n, warpSize)
		}
	}
}

// warp computes the product of the warp that begins with a lane.
func (p *product) warp(b *block, first int) {
	var left [16][32]int32 // [row][depth]
	var right [8][32]int32 // [column][depth]
	var sums [16][8]uint64 // [row][column]
	for l := range warpSize {
		group, member := l/4, l%4
		for r, reg := range p.a {
			unpack(left[group+r%2*8][r/2*16+member*4:], b.reg[reg][first+l], p.signedA)
		}
		for r, reg := range p.b {
			unpack(right[group][r*16+member*4:], b.reg[reg][first+l], p.signedB)
		}
		for r, reg := range p.c {
			sums[group+r/2*8][member*2+r%2] = b.reg[reg][first+l]
		}
	}
	for l := range warpSize {
		for r, reg := range p.d {
			row, column := l/4+r/2*8, l%4*2+r%2
			s, x, y := int32(sums[row][column]), left[row][:p.depth], right[column][:p.depth]
			for k := range x {
				s += x[k] * y[k]
			}
			b.reg[reg][first+l] = uint64(uint32(s))
		}
	}
}

// unpack stores the four bytes of a register.
func unpack(to []int32, register uint64, signed bool) {
	var bytes [4]byte
	binary.LittleEndian.PutUint32(bytes[:], uint32(register))
	for i, v := range bytes {
		to[i] = int32(v)
		if signed {
			to[i] = int32(int8(v))
		}
	}
}
