package hdf5

import (
	"bytes"
	"fmt"
)

// softLink is stored in place of the address of a symbolic link. It is never the address of
// an object.
const softLink = undefined

// Cache types of a symbol table entry (III.C).
const cacheSoftLink = 2

// list reads the members of a group at its first call.
func (o *Object) list() error {
	if o.links != nil {
		return nil
	}
	m := o.find(msgSymbols)
	switch {
	case m == nil && (o.find(msgLink) != nil || o.find(msgLinkInfo) != nil):
		return fmt.Errorf("a group of link messages, as libver=\"latest\" writes, is not supported")
	case m == nil:
		return fmt.Errorf("not a group")
	}
	c := m.cursor()
	tree, heapAddr := c.u64(), c.u64()
	if c.err != nil {
		return c.err
	}
	names, err := o.f.localHeap(heapAddr)
	if err != nil {
		return err
	}
	w := &walk{o: o, heap: names, seen: map[uint64]bool{}}
	o.links = map[string]uint64{}
	if err := w.node(tree, maxDepth); err != nil {
		o.links, o.names = nil, nil
		return err
	}
	return nil
}

// localHeap returns the data segment of a local heap (III.D), which contains the names of a
// group's members.
func (f *File) localHeap(addr uint64) ([]byte, error) {
	c, err := f.head(addr, 32, "local heap")
	if err != nil {
		return nil, err
	}
	c.expect("HEAP", "local heap")
	c.version("local heap", 0)
	c.take(3)
	size := c.u64()
	c.take(8)
	segment := c.u64()
	if c.err != nil {
		return nil, c.err
	}
	if c, err = f.block(segment, size, "local heap data"); err != nil {
		return nil, err
	}
	return c.rest(), nil
}

// walk collects the entries of one group's B-tree.
type walk struct {
	o    *Object
	heap []byte
	seen map[uint64]bool // nodes visited
}

func (w *walk) visit(addr uint64) error {
	if w.seen[addr] {
		return fmt.Errorf("the group's B-tree reaches the node at offset %d twice", addr)
	}
	w.seen[addr] = true
	return nil
}

// node walks a B-tree node of version 1 and type 0 (III.A.1) and all below it.
func (w *walk) node(addr uint64, depth int) error {
	if err := w.visit(addr); err != nil {
		return err
	}
	c, err := w.o.f.head(addr, 24, "B-tree node")
	if err != nil {
		return err
	}
	c.expect("TREE", "B-tree node")
	if kind := c.u8(); c.err == nil && kind != 0 {
		c.fail("B-tree of type %d where a group's is wanted", kind)
	}
	level, used := c.u8(), c.u16()
	if c.err == nil && level >= depth {
		c.fail("B-tree node of level %d; %d or less is expected there", level, depth-1)
	}
	if c.err != nil {
		return c.err
	}
	if c, err = w.o.f.block(addr+24, uint64(8+16*used), "B-tree node"); err != nil {
		return err
	}
	for range used {
		c.u64() // key: the last name before the child
		if err := w.child(c.u64(), level); err != nil {
			return err
		}
	}
	return c.err
}

func (w *walk) child(addr uint64, level int) error {
	if level > 0 {
		return w.node(addr, level)
	}
	return w.symbols(addr)
}

// symbols reads a symbol table node (III.B).
func (w *walk) symbols(addr uint64) error {
	if err := w.visit(addr); err != nil {
		return err
	}
	c, err := w.o.f.head(addr, 8, "symbol table node")
	if err != nil {
		return err
	}
	c.expect("SNOD", "symbol table node")
	c.version("symbol table node", 1)
	c.take(1)
	count := c.u16()
	if c.err != nil {
		return c.err
	}
	if c, err = w.o.f.block(addr+8, uint64(40*count), "symbol table node"); err != nil {
		return err
	}
	for range count {
		name, object, cache := c.u64(), c.u64(), c.u32()
		c.take(20)
		if cache == cacheSoftLink {
			object = softLink
		}
		if err := w.add(name, object); err != nil {
			return err
		}
	}
	return c.err
}

// add adds the member at address object. Its name is at nameOffset in the heap.
func (w *walk) add(nameOffset, object uint64) error {
	if nameOffset >= uint64(len(w.heap)) {
		return fmt.Errorf("a member's name at %d lies outside its heap of %d bytes", nameOffset, len(w.heap))
	}
	end := bytes.IndexByte(w.heap[nameOffset:], 0)
	if end < 0 {
		return fmt.Errorf("a member's name at %d does not end inside its heap", nameOffset)
	}
	if err := w.o.f.spend(end + 1); err != nil {
		return err
	}
	name := string(w.heap[nameOffset : nameOffset+uint64(end)])
	if _, ok := w.o.links[name]; ok {
		return fmt.Errorf("two members are called %.80q", name)
	}
	w.o.links[name] = object
	w.o.names = append(w.o.names, name)
	return nil
}
