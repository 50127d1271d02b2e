package hdf5

import (
	"cmp"
	"fmt"
	"path"
	"strings"
)

// The header messages that are read or rejected (IV.A.2).
const (
	msgSpace        = 0x01
	msgLinkInfo     = 0x02
	msgType         = 0x03
	msgLink         = 0x06
	msgExternal     = 0x07
	msgLayout       = 0x08
	msgFilters      = 0x0b
	msgAttribute    = 0x0c
	msgContinuation = 0x10
	msgSymbols      = 0x11
)

// Object is a group or a data set: an object header and the parts that it refers to.
type Object struct {
	f     *File
	addr  uint64
	path  string
	msgs  []message
	links map[string]uint64 // addresses by name; nil until read
	names []string          // names of links in the order of the file
}

// message is one message of an object header.
type message struct {
	kind int
	flag int
	body []byte
	base uint64 // offset of body
}

func (m *message) cursor() *cursor { return &cursor{b: m.body, base: m.base} }

// Path returns the path that led to the object, for messages.
func (o *Object) Path() string { return o.path }

// object reads the header at addr; it returns the same object for the same address.
func (f *File) object(addr uint64, name string) (*Object, error) {
	if o := f.objects[addr]; o != nil {
		return o, nil
	}
	o := &Object{f: f, addr: addr, path: name}
	if err := o.header(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f.objects[addr] = o
	return o, nil
}

// header reads an object header of version 1 (IV.A.1.a) and the blocks that
// continue it.
func (o *Object) header() error {
	c, err := o.f.head(o.addr, 16, "object header")
	if err != nil {
		return err
	}
	if len(c.b) >= 4 && string(c.b[:4]) == "OHDR" {
		c.fail("object header of version 2, as libver=\"latest\" writes; only version 1 is supported")
	}
	c.version("object header", 1)
	c.take(1)
	count := c.u16()
	c.take(4)
	size := c.u32()
	if c.err != nil {
		return c.err
	}
	seen := map[uint64]bool{}
	blocks := []extent{{o.addr + 16, uint64(size)}}
	for len(blocks) > 0 && len(o.msgs) < count {
		b := blocks[0]
		if seen[b.addr] {
			return fmt.Errorf("the object header at offset %d continues in itself", o.addr)
		}
		seen[b.addr] = true
		more, err := o.messages(b, count)
		if err != nil {
			return err
		}
		blocks = append(blocks[1:], more...)
	}
	return nil
}

// extent is a range of bytes of the file.
type extent struct{ addr, size uint64 }

// messages reads a block of header messages and returns the blocks that continue it.
func (o *Object) messages(b extent, count int) (continuations []extent, err error) {
	c, err := o.f.block(b.addr, b.size, "object header block")
	if err != nil {
		return nil, err
	}
	for len(c.b)-c.pos >= 8 && len(o.msgs) < min(count, maxMessages) {
		m := message{kind: c.u16()}
		size := c.u16()
		m.flag = c.u8()
		c.take(3)
		m.base = c.base + uint64(c.pos)
		m.body = c.take(size)
		if m.kind == msgContinuation {
			t := m.cursor()
			continuations = append(continuations, extent{t.u64(), t.u64()})
			c.err = cmp.Or(c.err, t.err)
		}
		if c.err != nil {
			return nil, c.err
		}
		o.msgs = append(o.msgs, m)
	}
	return continuations, nil
}

// find returns the message of a kind, or nil.
func (o *Object) find(kind int) *message {
	for i := range o.msgs {
		if o.msgs[i].kind == kind {
			return &o.msgs[i]
		}
	}
	return nil
}

// Open returns the object at a path of names joined by slashes, relative to o. The path
// cannot leave o: dots are ordinary names.
func (o *Object) Open(name string) (*Object, error) {
	steps := strings.Split(name, "/")
	if len(steps) > maxDepth {
		return nil, fmt.Errorf("hdf5: %s: path %.80q has %d parts; at most %d are supported", o.path, name,
			len(steps), maxDepth)
	}
	for _, p := range steps {
		if err := o.list(); err != nil {
			return nil, fmt.Errorf("hdf5: %s: %w", o.path, err)
		}
		addr, ok := o.links[p]
		if !ok {
			return nil, fmt.Errorf("hdf5: %s has no member %.80q", o.path, p)
		}
		if addr == softLink {
			return nil, fmt.Errorf("hdf5: %s is a soft or external link; links are not followed", path.Join(o.path, p))
		}
		child, err := o.f.object(addr, path.Join(o.path, p))
		if err != nil {
			return nil, fmt.Errorf("hdf5: %w", err)
		}
		o = child
	}
	return o, nil
}

// Has reports whether o is a group with a member of that name.
func (o *Object) Has(name string) bool {
	if o.list() != nil {
		return false
	}
	_, ok := o.links[name]
	return ok
}

// Members returns the names in a group, in the order of the file.
func (o *Object) Members() ([]string, error) {
	if err := o.list(); err != nil {
		return nil, fmt.Errorf("hdf5: %s: %w", o.path, err)
	}
	return o.names, nil
}

// IsGroup reports whether o is a group.
func (o *Object) IsGroup() bool { return o.find(msgSymbols) != nil }
