package gpu

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// parts is the kind of what each part of a cut has one of: no kind of a graph.
const parts graph.Kind = 100

// cut divides the rows of replicas into parts of a number of rows; the last of a
// replica may have fewer.
type cut struct {
	rows   int
	table  *slot // for every part its replica, its first row, and the row behind its last
	firsts *slot // for every replica its first part, and how many it has
}

// cut returns the cut into parts of that number of rows.
func (c *compiler) cut(rows int) *cut {
	e := c.exe
	if e.cuts[rows] == nil {
		k := &cut{rows: rows, table: e.slots.reserve(parts, 12), firsts: e.slots.reserve(graph.Replica, 8)}
		k.table.rows = rows
		e.cuts[rows] = k
	}
	return e.cuts[rows]
}

// parts takes a slot for the current node with that number of bytes for every
// part.
func (c *compiler) parts(k *cut, bytes int) *slot {
	r := c.exe.slots.reserve(parts, bytes)
	r.rows = k.rows
	return r
}

// count returns the number of parts of that number of rows.
func (k *cut) count(rows int) int { return (rows + k.rows - 1) / k.rows }

// upload writes the parts of this run to the device.
func (k *cut) upload(f *frame) error {
	var table, firsts []int32
	for r, n := range f.rows {
		firsts = append(firsts, int32(len(table)/3), int32(k.count(n)))
		for from := 0; from < n; from += k.rows {
			table = append(table, int32(r), int32(f.starts[r]+from), int32(f.starts[r]+min(from+k.rows, n)))
		}
	}
	if len(firsts) == 0 {
		return nil
	}
	d := f.exe.backend.driver
	if err := d.Write(k.firsts.buffer, 0, tensor.Of(firsts, len(firsts)).Bytes); err != nil || len(table) == 0 {
		return err
	}
	return d.Write(k.table.buffer, 0, tensor.Of(table, len(table)).Bytes)
}

// each adds a launch over the parts of a cut.
func (c *compiler) each(k *cut, kernel string, n int, args ...any) {
	c.steps = append(c.steps, &launch{kernel: kernel, kind: parts, cut: k, n: n, args: args})
}
