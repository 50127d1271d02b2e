package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// kernelWidth is the width of the kernels that direct convolutions are made for.
const kernelWidth = 3

// direct writes tiles of p neighbouring positions of a row by 16 channels, and the gradients of
// these tiles. A tile broadcasts every value of the input once for the three positions that read
// it.
func direct() {
	for _, p := range []int{16, 8, 4, 2, 1} {
		directTile(avx512, p)
	}
	directGradient(avx512, 8)
	for _, p := range []int{4, 2, 1} {
		directTile(avx2, p)
	}
	directGradient(avx2, 4)
}

// pixels computes the addresses of neighbouring pixels. Registers have odd multiples of the step, and an
// address is base plus 1, 2, 4 or 8 times one of them. Pixels from number far on use a second base.
type pixels struct {
	base, second reg.GPPhysical
	odd          []reg.GPPhysical // registers with 1, 3, 5, ... times the step
}

// far is the first pixel that cannot be addressed from base with a multiple in odd, or twice, four or eight
// times that multiple.
const far = 15

// address returns the address of pixel c.
func (p pixels) address(c int) operand.Mem {
	base := p.base
	if c >= far {
		base, c = p.second, c-far
	}
	return multiple(base, p.odd, c)
}

// newPixels computes the odd multiples of step that n pixels need.
func newPixels(base, second reg.GPPhysical, odd []reg.GPPhysical, step operand.Mem) pixels {
	p := pixels{base, second, odd}
	MOVQ(step, odd[0])
	for i := 1; i < len(odd); i++ {
		MOVQ(odd[i-1], odd[i])
		ADDQ(odd[0], odd[i])
		ADDQ(odd[0], odd[i])
	}
	return p
}

// directTile writes one tile. Every element is one chain of fused
// multiply-adds: kernel rows outside, then the values of a pixel, then the
// columns of the kernel.
func directTile(set isa, p int) {
	TEXT(fmt.Sprintf("direct%sp%d", set.name, p), NOSPLIT,
		"func(out *float32, outStep int, in *float32, inStep int, rowStep int, rows int, run int, "+
			"w *float32, bias *float32, "+epilogueParams+")")
	Pragma("noescape")
	width := set.vectors()
	accs := set.regs[:p*width]
	weights := set.regs[p*width:][:kernelWidth*width]
	spare := set.regs[(p+kernelWidth)*width:]
	odd := pointers[2:9]
	columns := p + kernelWidth - 1
	if columns <= 8 {
		odd = odd[:4]
	}
	x := newPixels(pointers[0], pointers[1], odd, param("inStep"))
	w, k, row, left := pointers[9], pointers[10], pointers[11], reg.R14
	MOVQ(param("in"), row)
	MOVQ(param("w"), w)
	MOVQ(param("rows"), left)
	set.clear(len(accs))

	Label("row")
	TESTQ(left, left)
	JE(operand.LabelRef("store"))
	MOVQ(row, x.base)
	if columns > far {
		MOVQ(row, x.second)
		for _, times := range []int{0, 3, 3} { // 1 + 7 + 7 = 15 times the step
			ADDQ(x.odd[times], x.second)
		}
	}
	MOVQ(param("run"), k)
	Label("value")
	TESTQ(k, k)
	JE(operand.LabelRef("next"))
	for i, r := range weights {
		VMOVUPS(operand.Mem{Base: w, Disp: set.bytes * i}, r)
	}
	for c := range columns {
		b := spare[c%min(len(spare), 4)]
		VBROADCASTSS(x.address(c), b)
		for j := range kernelWidth {
			if c-j < 0 || c-j >= p {
				continue
			}
			for v := range width {
				VFMADD231PS(weights[j*width+v], b, accs[(c-j)*width+v])
			}
		}
	}
	ADDQ(operand.Imm(uint64(kernelWidth*64)), w)
	ADDQ(operand.Imm(4), x.base)
	if columns > far {
		ADDQ(operand.Imm(4), x.second)
	}
	DECQ(k)
	JMP(operand.LabelRef("value"))
	Label("next")
	ADDQ(param("rowStep"), row)
	DECQ(left)
	JMP(operand.LabelRef("row"))

	Label("store")
	MOVQ(param("bias"), w)
	TESTQ(w, w)
	JE(operand.LabelRef("plus"))
	for i, r := range accs {
		VADDPS(operand.Mem{Base: w, Disp: set.bytes * (i % width)}, r, r)
	}
	Label("plus")
	// each calls do for the register of every result, with its address. w is the address of the first result.
	each := func(do func(r reg.VecPhysical, at operand.Mem)) {
		for i := range p {
			for v := range width {
				do(accs[i*width+v], operand.Mem{Base: w, Disp: set.bytes * v})
			}
			ADDQ(param("outStep"), w)
		}
	}
	set.epilogue(accs, set.regs[len(accs):], w, func() {
		each(func(r reg.VecPhysical, at operand.Mem) { VADDPS(at, r, r) })
	})
	MOVQ(param("out"), w)
	each(func(r reg.VecPhysical, at operand.Mem) { VMOVUPS(r, at) })
	VZEROUPPER()
	RET()
}

// directGradient continues the sums of m values of a pixel, for one vector of
// channels, in the three columns of one row of the kernel, over a row of at
// least two positions.
func directGradient(set isa, m int) {
	TEXT(fmt.Sprintf("directGradient%s", set.name), NOSPLIT,
		"func(sum *float32, sumStep int, in *float32, inStep int, grad *float32, gradStep int, count int)")
	Pragma("noescape")
	acc := func(j, i int) reg.VecPhysical { return set.regs[j*m+i] }
	d := func(age int) reg.VecPhysical { return set.regs[kernelWidth*m+age] }
	spare := set.regs[kernelWidth*(m+1):]
	sum, step, in, inStep, grad, gradStep, count := pointers[0], pointers[1], pointers[2], pointers[3],
		pointers[4], pointers[5], pointers[6]
	for i, name := range []string{"sum", "sumStep", "in", "inStep", "grad", "gradStep", "count"} {
		MOVQ(param(name), pointers[i])
	}
	eachSum := func(do func(r reg.VecPhysical, at operand.Mem)) {
		for j := range kernelWidth {
			for i := range m {
				do(acc(j, i), operand.Mem{Base: sum, Disp: 64 * i})
			}
			ADDQ(step, sum)
		}
	}
	// column adds the products of one pixel with columns [from, to) of the kernel.
	column := func(from, to int) {
		if from == 0 {
			VMOVUPS(operand.Mem{Base: grad}, d(0))
			ADDQ(gradStep, grad)
		}
		for i := range m {
			b := spare[i%min(len(spare), 4)]
			VBROADCASTSS(operand.Mem{Base: in, Disp: 4 * i}, b)
			for j := from; j < to; j++ {
				VFMADD231PS(d(j), b, acc(j, i))
			}
		}
		ADDQ(inStep, in)
		for age := kernelWidth - 1; age > 0; age-- {
			VMOVAPS(d(age-1), d(age))
		}
	}
	eachSum(func(r reg.VecPhysical, at operand.Mem) { VMOVUPS(at, r) })
	column(0, 1)
	column(0, 2)
	SUBQ(operand.Imm(2), count)
	Label("position")
	TESTQ(count, count)
	JE(operand.LabelRef("end"))
	column(0, kernelWidth)
	DECQ(count)
	JMP(operand.LabelRef("position"))
	Label("end")
	column(1, kernelWidth)
	column(2, kernelWidth)
	MOVQ(param("sum"), sum)
	eachSum(func(r reg.VecPhysical, at operand.Mem) { VMOVUPS(r, at) })
	VZEROUPPER()
	RET()
}
