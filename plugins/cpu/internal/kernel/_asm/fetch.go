package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// fetch writes the functions that prefetch lines of memory.
func fetch() {
	TEXT("fetchLines", NOSPLIT, "func(from *byte, step, count int)")
	Pragma("noescape")
	from, step, count := pointers[0], pointers[1], pointers[2]
	MOVQ(param("from"), from)
	MOVQ(param("step"), step)
	MOVQ(param("count"), count)
	Label("line")
	PREFETCHT1(operand.Mem{Base: from})
	ADDQ(step, from)
	DECQ(count)
	JNE(operand.LabelRef("line"))
	RET()
}
