package gpu

import (
	"context"
	"math"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// Needs returns the memory for state, constants and intermediate values.
func (e *Executable) Needs() device.Needs {
	var n device.Needs
	for _, s := range e.states {
		n.Fixed += int64(s.size())
	}
	for _, k := range e.constants {
		n.Fixed += int64(len(k.data))
	}
	for _, r := range e.rooms.all {
		if r.kind == graph.Rows {
			n.PerRow += int64(r.bytes)
		} else {
			n.Fixed += int64(r.want(e.capacity))
		}
	}
	return n
}

// Grow raises the capacity.
func (e *Executable) Grow(ctx context.Context, c device.Capacity) error {
	_, done, err := e.begin(ctx, "Grow")
	if err != nil {
		return err
	}
	defer done()
	return e.grow("Grow", e.capacity.With(c))
}

// grow makes all rooms large enough: those that are not get new buffers, and the
// former ones are freed when all are there.
func (e *Executable) grow(call string, c device.Capacity) error {
	need := 0.0
	for _, r := range e.rooms.all {
		need += r.want(c)
	}
	if need > math.MaxInt/4 {
		return e.device.fail(call, device.OutOfMemory, "%d rows in %d replicas want %.3g bytes", c.Rows, c.Replicas,
			need)
	}
	if err := e.device.checkMemory(call, need); err != nil {
		return err
	}
	made := map[*room]Buffer{}
	for _, r := range e.rooms.all {
		size := max(int(r.want(c)), 16)
		if size <= r.size {
			continue
		}
		b, err := e.device.driver.Alloc(size)
		if err != nil {
			for _, b := range made {
				_ = e.device.driver.Free(b)
			}
			return e.device.wrap(call, err)
		}
		made[r] = b
	}
	return e.device.wrap(call, e.move(made, c))
}

// move gives rooms their new buffers.
func (e *Executable) move(made map[*room]Buffer, c device.Capacity) (err error) {
	e.told = nil
	for r, b := range made {
		if r.buffer != 0 {
			if e.lastKept.Has { // what is kept may lie in it
				err = e.device.driver.Copy(b, r.buffer, r.size)
			}
			if e := e.device.driver.Free(r.buffer); err == nil {
				err = e
			}
		}
		r.buffer, r.size = b, max(int(r.want(c)), 16)
	}
	e.capacity = c
	return err
}
