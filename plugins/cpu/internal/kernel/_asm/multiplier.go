package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// constants writes numbers to memory, each repeated to fill a vector.
type constants struct{ made map[string]operand.Mem }

// single returns eight float32 of this value.
func (c *constants) single(v float64) operand.Mem {
	bits := math.Float32bits(float32(v))
	if float64(float32(v)) != v {
		panic("a constant that is no float32")
	}
	return c.repeat(fmt.Sprintf("winogradSingle%08x", bits), 8, 4, operand.U32(bits))
}

// double returns four float64 of this value.
func (c *constants) double(v float64) operand.Mem {
	bits := math.Float64bits(v)
	return c.repeat(fmt.Sprintf("winogradDouble%016x", bits), 4, 8, operand.U64(bits))
}

func (c *constants) repeat(name string, count, size int, v operand.Constant) operand.Mem {
	if m, ok := c.made[name]; ok {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range count {
		DATA(i*size, v)
	}
	c.made[name] = m
	return m
}

// multiplier multiplies by constants, which AVX-512 keeps in registers.
type multiplier struct {
	c    *constants
	set  isa
	temp reg.VecPhysical
	free []reg.VecPhysical
	held map[float64]reg.VecPhysical
}

func newMultiplier(c *constants, set isa, temp int) *multiplier {
	m := &multiplier{c: c, set: set, temp: set.regs[temp], held: map[float64]reg.VecPhysical{}}
	if set.bytes == 64 {
		m.free = set.regs[16:]
	}
	return m
}

// hold loads constants into registers before a loop.
func (m *multiplier) hold(values ...float64) {
	for _, v := range values {
		if _, ok := m.held[v]; ok || len(m.free) == 0 {
			continue
		}
		m.held[v], m.free = m.free[0], m.free[1:]
		VBROADCASTSS(m.c.single(v), m.held[v])
	}
}

// add adds v*x to acc. If v is 1 or -1, it adds or subtracts x, with the same result.
func (m *multiplier) add(v float64, x, acc reg.VecPhysical) {
	switch {
	case v == 1:
		VADDPS(x, acc, acc)
	case v == -1:
		VSUBPS(x, acc, acc)
	case m.set.bytes == 64:
		VFMADD231PS(m.held[v], x, acc)
	default:
		VFMADD231PS(m.c.single(v), x, acc)
	}
}

// addAt adds v times the value in memory to acc.
func (m *multiplier) addAt(v float64, x operand.Mem, acc reg.VecPhysical) {
	switch {
	case v == 1:
		VADDPS(x, acc, acc)
	case v == -1:
		VSUBPS(x, acc, acc)
	case m.set.bytes == 64:
		VFMADD231PS(x, m.held[v], acc)
	default:
		VMOVUPS(x, m.temp)
		VFMADD231PS(m.c.single(v), m.temp, acc)
	}
}

// times sets y to v*x.
func (m *multiplier) times(v float64, x, y reg.VecPhysical) {
	if m.set.bytes == 64 {
		VMULPS(m.held[v], x, y)
	} else {
		VMULPS(m.c.single(v), x, y)
	}
}
