package gpu

import (
	"math"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
)

// Needs implements lifecycle.Runner: the memory for state, constants and intermediate values.
func (e *executable) Needs() device.Needs {
	var n device.Needs
	for _, s := range e.states {
		n.Fixed += int64(s.size())
	}
	for _, k := range e.constants {
		n.Fixed += int64(len(k.data))
	}
	for _, r := range e.slots.all {
		if r.kind == graph.Rows {
			n.PerRow += int64(r.bytes)
		} else {
			n.Fixed += int64(r.want(e.capacity))
		}
	}
	return n
}

// Grow implements lifecycle.Runner. Slots that are too small get new buffers. The old buffers are freed
// after all new ones have been allocated.
func (e *executable) Grow(c device.Capacity, retained bool) error {
	need := 0.0
	for _, r := range e.slots.all {
		need += r.want(c)
	}
	if need > math.MaxInt/4 {
		return lifecycle.Errorf(device.OutOfMemory, "%d rows in %d replicas want %.3g bytes", c.Rows, c.Replicas,
			need)
	}
	if err := e.backend.checkMemory(need); err != nil {
		return err
	}
	made := map[*slot]Buffer{}
	for _, r := range e.slots.all {
		size := max(int(r.want(c)), 16)
		if size <= r.size {
			continue
		}
		b, err := e.backend.driver.Alloc(size)
		if err != nil {
			for _, b := range made {
				_ = e.backend.driver.Free(b)
			}
			return err
		}
		made[r] = b
	}
	return e.move(made, c, retained)
}

// move gives slots their new buffers. It copies the retained values if there are any.
func (e *executable) move(made map[*slot]Buffer, c device.Capacity, retained bool) (err error) {
	e.uploaded, e.nodes = nil, nil
	e.plans.drop(e.backend.driver)
	for _, r := range e.slots.all {
		b, ok := made[r]
		if !ok {
			continue
		}
		if r.buffer != 0 {
			if retained { // this slot may have a retained value
				err = e.backend.driver.Copy(b, r.buffer, r.size)
			}
			if e := e.backend.driver.Free(r.buffer); err == nil {
				err = e
			}
		}
		r.buffer, r.size = b, max(int(r.want(c)), 16)
	}
	e.capacity = c
	return err
}
