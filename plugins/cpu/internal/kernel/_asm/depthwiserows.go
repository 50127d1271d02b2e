package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// depthwiserows writes the blocks of DepthwiseRows: n adjacent positions and one vector of
// channels, for kernels 3 and 5 wide and strides 1 and 2.
func depthwiserows() {
	for _, set := range []isa{avx512, avx2} {
		for _, kernel := range []int{3, 5} {
			for _, stride := range []int{1, 2} {
				for _, n := range []int{7, 4, 2, 1} {
					b := rowBlock{isa: set, kernel: kernel, stride: stride, n: n}
					b.write()
				}
			}
		}
	}
}

// rowBlock is the shape of one block, and its registers.
type rowBlock struct {
	isa
	kernel, stride, n int
}

// columns returns the number of pixels of a row of the input that the block reads.
func (b *rowBlock) columns() int { return (b.n-1)*b.stride + b.kernel }

// These are the general registers of a block. vectorAt is the offset of the block's vector of channels in a
// pixel, and columnAt is the address of the weights of this vector.
var (
	rowAt, outAt, shiftAt, edgeAt      = pointers[0], pointers[1], pointers[2], pointers[3]
	blocksLeft, tapAt, tapsLeft, xAt   = pointers[4], pointers[5], pointers[6], pointers[7]
	weightAt, pixel, pixels3, vectorAt = pointers[8], pointers[9], pointers[10], pointers[11]
	columnAt                           = reg.R15
)

// write writes all blocks of some rows, each for some vectors of channels. Every element is one
// chain of fused multiply-adds that begins with the bias: the outer loop is over rows of the
// kernel, the inner one over columns.
func (b *rowBlock) write() {
	TEXT(fmt.Sprintf("depthwiseRows%sk%ds%dp%d", b.name, b.kernel, b.stride, b.n), NOSPLIT,
		"func(out *float32, in *float32, w *float32, wStep int, bias *float32, "+epilogueParams+
			", rows *int32, rowStep int, count int, edges *int32, blocks int, vectors int, pixel int, shift int, "+
			"outStep int, inStep int, ahead int)")
	Pragma("noescape")
	MOVQ(param("pixel"), pixel)
	LEAQ(operand.Mem{Base: pixel, Index: pixel, Scale: 2}, pixels3)
	plusFrom := AllocLocal(8)
	Comment("plus is found from where the result lies")
	MOVQ(param("plus"), xAt)
	SUBQ(param("out"), xAt)
	MOVQ(xAt, plusFrom)
	MOVQ(param("vectors"), vectorAt)
	IMUL3Q(operand.Imm(uint64(b.bytes)), vectorAt, vectorAt)
	MOVQ(vectorAt, param("vectors"))
	MOVQ(param("rows"), rowAt)
	Label("row")
	MOVLQSX(operand.Mem{Base: rowAt}, outAt)
	ADDQ(param("out"), outAt)
	MOVQ(param("shift"), shiftAt)
	MOVQ(param("edges"), edgeAt)
	MOVQ(param("blocks"), blocksLeft)
	Label("block")
	b.loadEdges()
	XORQ(vectorAt, vectorAt)
	MOVQ(param("w"), columnAt)
	Label("vector")
	b.block(plusFrom)
	ADDQ(param("wStep"), columnAt)
	ADDQ(operand.Imm(uint64(b.bytes)), vectorAt)
	CMPQ(vectorAt, param("vectors"))
	JNE(operand.LabelRef("vector"))
	ADDQ(param("outStep"), outAt)
	ADDQ(param("inStep"), shiftAt)
	ADDQ(operand.Imm(32), edgeAt)
	DECQ(blocksLeft)
	JNE(operand.LabelRef("block"))
	ADDQ(param("rowStep"), rowAt)
	DECQ(param("count"))
	JNE(operand.LabelRef("row"))
	VZEROUPPER()
	RET()
}

// block writes one block. The weights of a row of the kernel stay in registers while the columns of the
// image are loaded one by one, so that 16 registers are enough for 7 positions.
func (b *rowBlock) block(plusFrom operand.Mem) {
	sums, free := b.regs[:b.n], b.regs[b.n:]
	b.fetch("results", b.n, outAt, vectorAt)
	MOVQ(param("bias"), xAt)
	for _, r := range sums {
		VMOVUPS(operand.Mem{Base: xAt, Index: vectorAt, Scale: 1}, r)
	}
	LEAQ(operand.Mem{Base: rowAt, Disp: 8}, tapAt)
	MOVLQSX(operand.Mem{Base: rowAt, Disp: 4}, tapsLeft)
	TESTQ(tapsLeft, tapsLeft)
	JE(operand.LabelRef("end"))
	Label("tap")
	MOVLQSX(operand.Mem{Base: tapAt}, xAt)
	ADDQ(param("in"), xAt)
	ADDQ(shiftAt, xAt)
	ADDQ(vectorAt, xAt)
	MOVLQSX(operand.Mem{Base: tapAt, Disp: 4}, weightAt)
	IMUL3Q(operand.Imm(uint64(b.bytes)), weightAt, weightAt)
	ADDQ(columnAt, weightAt)
	CMPQ(tapsLeft, operand.Imm(1))
	JNE(operand.LabelRef("fetched"))
	b.fetch("image", b.columns(), xAt, nil)
	Label("fetched")
	weights, inputs := free[:b.kernel], free[b.kernel:]
	for k, r := range weights {
		VMOVUPS(operand.Mem{Base: weightAt, Disp: b.bytes * k}, r)
	}
	for j := range b.columns() {
		input := inputs[j%min(len(inputs), 4)]
		b.load(j, along(xAt, j), input)
		for i, sum := range sums {
			if k := j - i*b.stride; k >= 0 && k < b.kernel {
				VFMADD231PS(input, weights[k], sum)
			}
		}
	}
	ADDQ(operand.Imm(8), tapAt)
	DECQ(tapsLeft)
	JNE(operand.LabelRef("tap"))
	Label("end")
	b.epilogue(sums, free, xAt, func() {
		MOVQ(plusFrom, xAt)
		ADDQ(outAt, xAt)
		ADDQ(vectorAt, xAt)
		for i, sum := range sums {
			VADDPS(along(xAt, i), sum, sum)
		}
	})
	LEAQ(operand.Mem{Base: outAt, Index: vectorAt, Scale: 1}, xAt)
	for i, sum := range sums {
		VMOVUPS(sum, along(xAt, i))
	}
}

// fetch prefetches the vectors of n pixels that are needed later. The first is at base plus index, or at
// base if index is nil.
func (b *rowBlock) fetch(name string, n int, base, index reg.GPPhysical) {
	ahead := reg.R14
	MOVQ(param("ahead"), ahead)
	TESTQ(ahead, ahead)
	JE(operand.LabelRef(name))
	ADDQ(base, ahead)
	if index != nil {
		ADDQ(index, ahead)
	}
	for i := range n {
		PREFETCHT1(along(ahead, i))
	}
	Label(name)
}

// along returns the address of the pixel that follows base by i pixels. Call it for increasing i without
// gaps: it advances base at every fourth pixel.
func along(base reg.GPPhysical, i int) operand.Mem {
	if i > 0 && i%4 == 0 {
		LEAQ(operand.Mem{Base: base, Index: pixel, Scale: 4}, base)
	}
	switch i % 4 {
	case 1:
		return operand.Mem{Base: base, Index: pixel, Scale: 1}
	case 2:
		return operand.Mem{Base: base, Index: pixel, Scale: 2}
	case 3:
		return operand.Mem{Base: base, Index: pixels3, Scale: 1}
	}
	return operand.Mem{Base: base}
}

// masks are the mask registers for columns that may be outside the image, first on the left, then on the
// right.
var masks = []reg.OpmaskPhysical{reg.K1, reg.K2, reg.K3, reg.K4}

// edge returns the number of the mask for column j. It returns -1 for a column that is always inside the
// image.
func (b *rowBlock) edge(j int) int {
	side := b.kernel / 2
	switch {
	case j < side:
		return j
	case j >= b.columns()-side:
		return j - b.columns() + 2*side
	}
	return -1
}

// loadEdges loads the masks of the block into registers; AVX2 reads them from memory.
func (b *rowBlock) loadEdges() {
	if b.bytes < 64 {
		return
	}
	for k := range b.kernel / 2 * 2 {
		KMOVW(operand.Mem{Base: edgeAt, Disp: 4 * k}, masks[k])
	}
}

// load loads column j, which is at the given address, into r. A column outside the image is zeros: its load
// is masked completely and has an address inside the image, because a masked load from an unmapped page costs
// about 1000 cycles.
func (b *rowBlock) load(j int, address operand.Mem, r reg.VecPhysical) {
	k := b.edge(j)
	if k < 0 {
		VMOVUPS(address, r)
		return
	}
	MOVLQSX(operand.Mem{Base: edgeAt, Disp: 16 + 4*k}, reg.R14)
	address = operand.Mem{Base: address.Base, Index: reg.R14, Scale: 1}
	if b.bytes == 64 {
		VMOVUPS_Z(address, masks[k], r)
		return
	}
	VBROADCASTSS(operand.Mem{Base: edgeAt, Disp: 4 * k}, r)
	VMASKMOVPS(address, r, r)
}
