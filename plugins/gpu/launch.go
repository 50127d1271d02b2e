package gpu

import (
	"encoding/binary"
	"math"

	"github.com/bnctl/bnctl/graph"
)

// step is a step of a function: a launch, or work of the host.
type step interface{ run(f *frame) error }

// launch runs a kernel over units of a kind, n elements each. An argument is an int, a
// float64, or a *value, *slot or *constant, which is passed as its buffer. Every kernel
// receives its first unit before the arguments.
type launch struct {
	kernel    string
	kind      graph.Kind
	partition *partition // nil unless the kind is chunks
	n         int
	args      []any
}

func (l *launch) run(f *frame) error {
	units := f.units(l.kind)
	if l.partition != nil {
		units = 0
		for _, n := range f.rows {
			units += l.partition.count(n)
		}
	}
	if l.n == 0 {
		return nil
	}
	for first := 0; first < units; first += maxUnits {
		groups := [2]int{(l.n + Threads - 1) / Threads, min(units-first, maxUnits)}
		if err := f.launch(l, groups, int32(first)); err != nil {
			return err
		}
	}
	return nil
}

// launch launches the kernel of l, or adds the launch to the plan that is being made. The arguments in
// ahead come before l's arguments.
func (f *frame) launch(l *launch, groups [2]int, ahead ...any) error {
	args := make([]any, 0, len(ahead)+len(l.args))
	args = append(args, ahead...)
	for _, a := range l.args {
		args = append(args, f.argument(a))
	}
	if f.planned != nil {
		*f.planned = append(*f.planned, Launch{l.kernel, groups, args})
		return nil
	}
	return f.exe.backend.driver.Launch(l.kernel, groups, args)
}

// argument converts a to the type that a driver accepts.
func (f *frame) argument(a any) any {
	switch a := a.(type) {
	case *value:
		return a.buffer()
	case *slot:
		return a.buffer
	case *constant:
		return a.buffer
	case int:
		return int32(a)
	}
	return a
}

func (v *value) buffer() Buffer {
	if v.state != nil {
		return v.state.buffer
	}
	return v.slot.buffer
}

// constant holds numbers that a kernel reads. They are the same in all runs.
type constant struct {
	data   []byte
	buffer Buffer
}

// upload copies a constant to the device.
func (k *constant) upload(d Driver) (err error) {
	if k.buffer, err = d.Alloc(max(len(k.data), 16)); err != nil {
		return err
	}
	return d.Write(k.buffer, 0, k.data)
}

// table returns a constant that has the lists one after the other.
func (c *compiler) table(lists ...[]int) *constant {
	k := &constant{}
	for _, list := range lists {
		for _, n := range list {
			k.data = binary.LittleEndian.AppendUint32(k.data, uint32(int32(n)))
		}
	}
	c.exe.constants = append(c.exe.constants, k)
	return k
}

// floats returns a constant of float32.
func (c *compiler) floats(list []float32) *constant {
	k := &constant{}
	for _, v := range list {
		k.data = binary.LittleEndian.AppendUint32(k.data, math.Float32bits(v))
	}
	c.exe.constants = append(c.exe.constants, k)
	return k
}

// doubles returns a constant of float64.
func (c *compiler) doubles(list []float64) *constant {
	k := &constant{}
	for _, v := range list {
		k.data = binary.LittleEndian.AppendUint64(k.data, math.Float64bits(v))
	}
	c.exe.constants = append(c.exe.constants, k)
	return k
}

// onChange has steps that run only if one of the state tensors that they read has changed.
type onChange struct {
	of      []*state
	stamps  []uint64 // the states' stamps when the steps ran; 0: they have not run
	steps   []step
	changed bool // the steps are part of the current run
}

// check sets changed at the beginning of a run.
func (p *onChange) check() {
	p.changed = false
	for i, s := range p.of {
		p.changed = p.changed || p.stamps[i] != s.stamp
	}
}

// ran is called when all steps of the function have been launched.
func (p *onChange) ran() {
	for i, s := range p.of {
		p.stamps[i] = s.stamp
	}
}

func (p *onChange) run(f *frame) error {
	if !p.changed {
		return nil
	}
	for _, s := range p.steps {
		if err := s.run(f); err != nil {
			return err
		}
	}
	return nil
}
