package hdf5

import "math"

// dataspace reads a dataspace message (IV.A.2.b) and returns the shape, empty
// for a scalar.
func (c *cursor) dataspace() []int {
	version := c.version("dataspace", 1, 2)
	rank, flags := c.u8(), c.u8()
	switch {
	case c.err != nil:
		return nil
	case rank > maxRank:
		c.fail("dataspace of rank %d; at most %d is supported", rank, maxRank)
		return nil
	}
	if version == 1 {
		c.take(5)
	} else if c.u8() == 2 {
		return []int{0} // a null dataspace holds nothing
	}
	shape := make([]int, rank)
	for i := range shape {
		n := c.u64()
		if n > math.MaxInt32 {
			c.fail("dataspace with a length of %d", n)
		}
		shape[i] = int(n)
	}
	if flags&1 != 0 {
		c.take(8 * rank) // the maximum length of each axis
	}
	return shape
}

// elements returns the number of elements of a shape and their size in bytes; ok is false
// if they exceed the size of any file.
func elements(shape []int, size int) (count, bytes int, ok bool) {
	count = 1
	for _, n := range shape {
		if n != 0 && count > math.MaxInt32/n {
			return 0, 0, false
		}
		count *= n
	}
	return count, count * size, size == 0 || count <= math.MaxInt/size
}
