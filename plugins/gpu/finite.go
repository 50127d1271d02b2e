package gpu

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// checkFinite adds launches that search the updates of the function for values that are not finite, except
// the results of optimizers, which have flags. The result is a flag in the slot notFinite.
func (c *compiler) checkFinite() {
	if c.found == nil {
		c.found = c.private(0)
	}
	at, found := c.found.bytes/4, c.found
	for _, u := range c.fn.Updates {
		v := c.fn.values[u.Value]
		if v.DType != tensor.F32 || v.count == 0 || c.checked[u.Value] {
			continue
		}
		blocks := (v.count + 1023) / 1024
		c.launch("not_finite", graph.Whole, blocks, v, found, blocks, v.count, at)
		at += blocks
	}
	if at == 0 {
		return
	}
	found.bytes = 4 * at
	for {
		some := (at + 255) / 256
		next := c.private(4 * some)
		c.launch("any_of", graph.Whole, some, found, next, some, at)
		if found, at = next, some; at == 1 {
			break
		}
	}
	c.exe.notFinite = found
}

// checkUpdates returns an error if the function has made a state tensor infinite or NaN. The error
// names the tensor.
func (e *executable) checkUpdates(fn *function) error {
	if e.notFinite == nil {
		return e.backend.driver.Wait()
	}
	found := tensor.New(tensor.I32, 1)
	if err := e.backend.read(found.Bytes, e.notFinite.buffer, 0); err != nil {
		return err
	}
	for i := 0; i < len(fn.Updates) && found.I32()[0] != 0; i++ {
		s := e.states[fn.Updates[i].State]
		t := tensor.New(s.DType, s.Shape...)
		if err := e.backend.read(t.Bytes, s.buffer, 0); err != nil {
			return err
		}
		if err := device.Finite(s.Name, t); err != nil {
			return lifecycle.Errorf(device.NonFinite, "%w", err)
		}
	}
	return nil
}
