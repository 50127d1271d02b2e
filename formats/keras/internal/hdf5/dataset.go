package hdf5

import (
	"cmp"
	"fmt"
)

// The layouts of a data set (IV.A.2.i).
const (
	compact    = 0
	contiguous = 1
)

var layoutNames = [...]string{"compact", "contiguous", "chunked", "virtual"}

// IsData reports whether o is a data set.
func (o *Object) IsData() bool { return o.find(msgLayout) != nil }

// Value returns the value of a data set.
func (o *Object) Value() (Value, error) {
	v, err := o.data()
	if err != nil {
		return Value{}, fmt.Errorf("hdf5: %s: %w", o.path, err)
	}
	return v, nil
}

func (o *Object) data() (Value, error) {
	space, kind, layout := o.find(msgSpace), o.find(msgType), o.find(msgLayout)
	switch {
	case space == nil || kind == nil || layout == nil:
		return Value{}, fmt.Errorf("not a data set")
	case o.find(msgFilters) != nil:
		return Value{}, fmt.Errorf("compressed data is not supported: Keras does not write it")
	case o.find(msgExternal) != nil:
		return Value{}, fmt.Errorf("data in another file is not supported")
	case (space.flag|kind.flag|layout.flag)&2 != 0:
		return Value{}, fmt.Errorf("a shared datatype or dataspace is not supported")
	}
	s, t, l := space.cursor(), kind.cursor(), layout.cursor()
	p := contents{shape: s.dataspace(), t: t.datatype()}
	if err := cmp.Or(s.err, t.err); err != nil {
		return Value{}, err
	}
	var err error
	if p.data, err = o.f.layout(l, p); err != nil {
		return Value{}, err
	}
	return o.value(p, o.path)
}

// layout returns the data that a layout message points to or holds.
func (f *File) layout(c *cursor, p contents) (data, error) {
	c.version("data layout", 3, 4)
	switch class := c.u8(); {
	case c.err != nil:
	case class == compact:
		d := inMemory(c.take(c.u16()))
		return d, c.err
	case class == contiguous:
		return f.contiguous(c, p)
	case class < len(layoutNames):
		c.fail("%s data is not supported: Keras does not write it", layoutNames[class])
	default:
		c.fail("data layout %d is not supported", class)
	}
	return data{}, c.err
}

func (f *File) contiguous(c *cursor, p contents) (data, error) {
	addr, size := c.u64(), c.u64()
	if c.err != nil {
		return data{}, c.err
	}
	if addr == undefined {
		if count, _, ok := elements(p.shape, p.t.Size); !ok || count > 0 {
			return data{}, fmt.Errorf("its %v elements of %v were never written", p.shape, p.t)
		}
		return data{}, nil
	}
	if err := f.check(addr, size, "data"); err != nil {
		return data{}, err
	}
	return data{address: int64(addr), size: int(size)}, nil
}
