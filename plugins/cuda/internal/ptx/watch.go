package ptx

// locate returns the region and the byte at the address that a lane accesses.
func (b *block) locate(a *access, l int32, address uint64, size int) (*region, int) {
	r := b.near
	if id := address >> 32; id != b.nearID || r == nil {
		r = b.region(l, id)
		b.near, b.nearID = r, id
	}
	at := int(uint32(address))
	switch {
	case r.space != a.space && !a.any:
		fail(l, "the address %#x is of another space", address)
	case at+size > r.size:
		fail(l, "out of bounds: bytes %d to %d of %d", at, at+size, r.size)
	case at%size != 0:
		fail(l, "misaligned: byte %d, for %d bytes", at, size)
	}
	if size == 1 {
		r.split()
	}
	if r.space == local {
		at += int(l) * ((r.size + 3) / 4 * 4)
	}
	return r, at
}

func (b *block) region(l int32, id uint64) *region {
	list, i := b.shared, id-sharedBase>>32
	if id >= localBase>>32 {
		list, i = b.local, id-localBase>>32
	}
	if id >= sharedBase>>32 {
		if i >= uint64(len(list)) {
			fail(l, "out of bounds: the address is behind a block's memory")
		}
		return list[i]
	}
	r := b.m.buffers[id]
	if r == nil {
		fail(l, "the address %#x00000000 is in no buffer, or in a freed one", id)
	}
	return r
}

// since returns the epoch since which accesses by two lanes of this block conflict. The
// kernels' barrier only orders shared memory (CLK_LOCAL_MEM_FENCE in OpenCL), so for a
// buffer this is the first epoch of the block.
func (b *block) since(r *region) uint32 {
	if r.space == global {
		return b.began
	}
	return b.m.epoch
}

// reads records that a lane reads word i of a region.
func (b *block) reads(r *region, i int, l int32, readonly bool) {
	w, since := &r.shadow[i], b.since(r)
	switch {
	case w.wrote == 0 || r.space != global && w.wrote < b.began:
		fail(l, "it reads what was never written")
	case w.wrote < b.launch:
	case readonly:
		fail(l, "it reads through the read-only cache what the launch has written")
	case w.wrote < b.began:
		b.race(l, r, i, "another block has written what it reads")
	case w.wrote >= since && w.writer != l:
		b.race(l, r, i, "thread %d has written what it reads, with no barrier%s between", w.writer, b.fence(r))
	}
	if w.read < since {
		if w.read >= b.launch && w.read < b.began {
			w.across = b.launch
		}
		w.reader = l
	} else if w.reader != l {
		w.reader = many
	}
	w.read = b.m.epoch
}

// writes records that a lane writes word i of a region.
func (b *block) writes(r *region, i int, l int32) {
	w, since := &r.shadow[i], b.since(r)
	switch {
	case w.wrote >= since && w.writer != l:
		b.race(l, r, i, "thread %d has written the same word, with no barrier%s between", w.writer, b.fence(r))
	case w.read >= since && w.reader != l:
		b.race(l, r, i, "another thread has read what it writes, with no barrier%s between", b.fence(r))
	case r.space != global:
	case w.wrote >= b.launch && w.wrote < b.began:
		b.race(l, r, i, "another block has written the same word")
	case w.read >= b.launch && w.read < b.began || w.across == b.launch:
		b.race(l, r, i, "another block has read what it writes")
	}
	w.wrote, w.writer = b.m.epoch, l
}

// fence describes the memory that a barrier would have to order, for the message about a race in a region.
func (b *block) fence(r *region) string {
	if r.space == global {
		return " for buffers"
	}
	return ""
}
