package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// directpairs writes the tiles of DirectPairs.
func directpairs() {
	native := rounding{isa: avx512, name: "AVX512BF16", native: true}
	plain := rounding{isa: avx512, name: "AVX512", scratch: zmm[29:32]}
	narrow := rounding{isa: avx2, name: "AVX2", scratch: ymm[13:16]}
	for _, p := range []int{16, 8, 4, 2, 1} {
		(&pairsTiler{native, 1, p}).direct()
		(&pairsTiler{plain, 1, p}).direct()
	}
	for _, p := range []int{4, 2, 1} {
		(&pairsTiler{narrow, 1, p}).direct()
	}
}

// direct writes one tile, as directTile does for float32.
func (t *pairsTiler) direct() {
	TEXT(fmt.Sprintf("directPairs%sp%d", t.name, t.p), NOSPLIT,
		"func(out *byte, outStep int, in *uint16, inStep int, rowStep int, rows int, pairs int, "+
			"w *uint16, scale *float32, bias *float32, plus *float32, most *float32, as int)")
	Pragma("noescape")
	columns := t.p + kernelWidth - 1
	odd := pointers[2:9]
	if columns <= 8 {
		odd = odd[:4]
	}
	restore := flushSubnormals(reg.R15)
	t.constants()
	x := newPixels(pointers[0], pointers[1], odd, param("inStep"))
	w, k, row, left := pointers[9], pointers[10], pointers[11], reg.R14
	MOVQ(param("in"), row)
	MOVQ(param("w"), w)
	MOVQ(param("rows"), left)
	t.clear(t.p * t.width())

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
	MOVQ(param("pairs"), k)
	Label("pair")
	t.column(x, w)
	ADDQ(operand.Imm(uint64(kernelWidth*64)), w)
	ADDQ(operand.Imm(4), x.base)
	if columns > far {
		ADDQ(operand.Imm(4), x.second)
	}
	DECQ(k)
	JNE(operand.LabelRef("pair"))
	ADDQ(param("rowStep"), row)
	DECQ(left)
	JMP(operand.LabelRef("row"))

	Label("store")
	t.end(w, k, t.bySteps(param("outStep")), t.bySteps(w), func() {
		MOVQ(param("outStep"), w)
		SARQ(operand.Imm(1), w)
	})
	restore()
	VZEROUPPER()
	RET()
}

// column adds, for each pixel, the products of a pair of its values with the columns of the kernel that use
// it. Each result adds these products in the order of the columns.
func (t *pairsTiler) column(x pixels, w reg.GPPhysical) {
	accs, width := t.p*t.width(), t.width()
	weights := func(i int) operand.Mem { return operand.Mem{Base: w, Disp: t.bytes * i} }
	if t.native {
		for i := range kernelWidth {
			VMOVUPS(weights(i), t.regs[accs+i])
		}
	}
	for c := range t.p + kernelWidth - 1 {
		if t.native {
			b := accs + kernelWidth + c%4
			VBROADCASTSS(x.address(c), t.regs[b])
			for j := range kernelWidth {
				if c-j >= 0 && c-j < t.p {
					vdpbf16ps(accs+j, b, c-j)
				}
			}
			continue
		}
		second, first, of := t.regs[accs], t.regs[accs+1], t.regs[accs+2]
		VBROADCASTSS(x.address(c), second)
		VPSLLD(operand.Imm(16), second, first)
		t.half(true, second)
		for j := range kernelWidth {
			if c-j < 0 || c-j >= t.p {
				continue
			}
			for v := range width {
				acc := t.regs[(c-j)*width+v]
				VMOVUPS(weights(j*width+v), of)
				t.half(true, of)
				VFMADD231PS(of, second, acc)
				VMOVUPS(weights(j*width+v), of)
				t.half(false, of)
				VFMADD231PS(of, first, acc)
			}
		}
	}
}
