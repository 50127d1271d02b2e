package gpu

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// chunks is the kind of values with one unit for each chunk of a partition. Graphs do
// not have this kind.
const chunks graph.Kind = 100

// partition divides the rows of each replica into chunks. The last chunk of a replica may
// have fewer rows.
type partition struct {
	rows      int
	positions int   // positions per row: the table counts positions
	table     *slot // replica, first position and end of each chunk
	firsts    *slot // first chunk and number of chunks of each replica
}

// partition returns the partition into chunks of the given number of rows.
func (c *compiler) partition(rows int) *partition { return c.partitionOf(rows, 1) }

// partitionOf returns the partition into chunks of the given number of rows. Its table counts
// positions: each row has the given number of them.
func (c *compiler) partitionOf(rows, positions int) *partition {
	e := c.exe
	for _, k := range e.partitions {
		if k.rows == rows && k.positions == positions {
			return k
		}
	}
	k := &partition{rows: rows, positions: positions, table: e.slots.reserve(chunks, 12),
		firsts: e.slots.reserve(graph.Replica, 8)}
	k.table.rows = rows
	e.partitions = append(e.partitions, k)
	return k
}

// chunkSlot acquires a slot for the current node with the given number of bytes for every
// chunk.
func (c *compiler) chunkSlot(k *partition, bytes int) *slot {
	r := c.exe.slots.reserve(chunks, bytes)
	r.rows = k.rows
	return r
}

// count returns the number of chunks for the given number of rows.
func (k *partition) count(rows int) int { return (rows + k.rows - 1) / k.rows }

// upload writes the chunks of this run to the device.
func (k *partition) upload(f *frame) error {
	var table, firsts []int32
	for r, n := range f.rows {
		firsts = append(firsts, int32(len(table)/3), int32(k.count(n)))
		for from := 0; from < n; from += k.rows {
			first, end := f.starts[r]+from, f.starts[r]+min(from+k.rows, n)
			table = append(table, int32(r), int32(first*k.positions), int32(end*k.positions))
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

// launchChunks adds a launch over the chunks of a partition.
func (c *compiler) launchChunks(k *partition, kernel string, n int, args ...any) {
	c.steps = append(c.steps, &launch{kernel: kernel, kind: chunks, partition: k, n: n, args: args})
}
