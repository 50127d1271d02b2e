package hdf5

import (
	"bytes"
	"cmp"
	"fmt"
)

// Attribute returns an attribute of o; ok is false if it has no attribute of that name.
func (o *Object) Attribute(name string) (v Value, ok bool, err error) {
	for i := range o.msgs {
		if o.msgs[i].kind != msgAttribute {
			continue
		}
		c := o.msgs[i].cursor()
		p, found := c.attribute(name)
		if c.err == nil && found {
			v, c.err = o.value(p, "attribute "+name+" of "+o.path)
		}
		if c.err != nil {
			return Value{}, false, fmt.Errorf("hdf5: attribute of %s: %w", o.path, c.err)
		}
		if found {
			return v, true, nil
		}
	}
	return Value{}, false, nil
}

// contents holds the type, the shape and the data of an attribute or a data set.
type contents struct {
	t     Type
	shape []int
	data  data
}

// attribute reads an attribute message (IV.A.2.m). found is false if it has another name.
func (c *cursor) attribute(name string) (p contents, found bool) {
	version := c.version("attribute", 1, 2, 3)
	if flags := c.u8(); c.err == nil && version > 1 && flags != 0 {
		c.fail("attribute with a shared datatype or dataspace is not supported")
	}
	sizes := [3]int{c.u16(), c.u16(), c.u16()} // name, datatype, dataspace
	if version == 3 {
		c.take(1) // character set
	}
	piece := func(n int) *cursor {
		base := c.base + uint64(c.pos)
		if version == 1 {
			return &cursor{b: c.aligned(n), base: base, err: c.err}
		}
		return c.sub(n)
	}
	have := piece(sizes[0]).b
	t, s := piece(sizes[1]), piece(sizes[2])
	if c.err != nil || string(bytes.TrimRight(have, "\x00")) != name {
		return p, false
	}
	p.t, p.shape = t.datatype(), s.dataspace()
	c.err = cmp.Or(c.err, t.err, s.err)
	p.data = inMemory(c.rest())
	return p, c.err == nil
}

// value makes a Value from p. The data must contain all elements.
func (o *Object) value(p contents, where string) (Value, error) {
	count, n, ok := elements(p.shape, p.t.Size)
	if !ok || n > p.data.size {
		return Value{}, fmt.Errorf("%d elements of %v do not fit in %d bytes", count, p.t, p.data.size)
	}
	if p.data.size = n; p.data.bytes != nil {
		p.data.bytes = p.data.bytes[:n:n]
	}
	return Value{Type: p.t, Shape: p.shape, data: p.data, f: o.f, name: where}, nil
}
