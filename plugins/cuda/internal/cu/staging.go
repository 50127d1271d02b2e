package cu

import (
	"sync"
	"unsafe"
)

// All bytes between the host and the GPU pass through pinned memory, which the GPU reads and writes while the
// host does something else. Large data travels on a stream of its own to memory of the GPU, so that it
// arrives while earlier launches run, and is copied to its buffer in the order of the launches:
//
//	data ── host ──> pinned memory ── stream of copies ──> GPU ── stream of launches ──> buffer

// chunk is a chunk of the pinned memory, and the memory on the GPU that belongs to it.
type chunk struct {
	host    unsafe.Pointer
	device  uint64  // 0 for small chunks
	arrived uintptr // event after the copy to device
	free    uintptr // event after the last use of the chunk
}

// ring is a number of chunks that are used in turn.
type ring struct {
	size   int // bytes of a chunk
	chunks []chunk
	next   int
}

const (
	smallSize, smallChunks = 64 << 10, 32
	largeSize, largeChunks = 4 << 20, 8
)

// staging is the pinned memory of a context.
type staging struct {
	small, large ring
	copies       uintptr // stream of copies of large chunks
	back         [2]area
	next         int     // the area of back for the next data from the GPU
	bulk         [2]area // for data that is too large for an area
}

// area is pinned memory for data from the GPU. used is held from the start of the copies until the data has
// been taken out, which another goroutine may do.
type area struct {
	used sync.Mutex
	host unsafe.Pointer
	done uintptr // event after the copies
}

// Flags of cuEventCreate: a waiting thread sleeps, and the event has no time.
const eventFlags = 1 | 2

// open creates what every context needs. Large chunks are allocated when they are first used.
func (s *staging) open(c *CUDA) error {
	const besideOthers = 1
	if err := c.check("cuStreamCreate", c.newStream(&s.copies, besideOthers)); err != nil {
		return err
	}
	var all unsafe.Pointer
	if err := c.check("cuMemHostAlloc", c.allocHost(&all, smallSize*smallChunks, 0)); err != nil {
		return err
	}
	s.small = ring{size: smallSize, chunks: make([]chunk, smallChunks)}
	s.large = ring{size: largeSize, chunks: make([]chunk, largeChunks)}
	for i := range s.small.chunks {
		p := &s.small.chunks[i]
		p.host = unsafe.Add(all, i*smallSize)
		if err := c.newEvents(&p.free); err != nil {
			return err
		}
	}
	return nil
}

// open allocates an area when it is first used.
func (a *area) open(c *CUDA) error {
	if a.host != nil {
		return nil
	}
	if err := c.newEvents(&a.done); err != nil {
		return err
	}
	return c.check("cuMemHostAlloc", c.allocHost(&a.host, largeSize, 0))
}

func (c *CUDA) newEvents(to ...*uintptr) error {
	for _, e := range to {
		if err := c.check("cuEventCreate", c.newEvent(e, eventFlags)); err != nil {
			return err
		}
	}
	return nil
}

// take returns the next chunk of a ring, once the GPU does not use it any more.
func (r *ring) take(c *CUDA) (*chunk, error) {
	p := &r.chunks[r.next]
	if p.host != nil {
		r.next = (r.next + 1) % len(r.chunks)
		return p, c.check("cuEventSynchronize", c.waitEvent(p.free))
	}
	made := chunk{}
	if err := c.newEvents(&made.free, &made.arrived); err != nil {
		return nil, err
	}
	if err := c.check("cuMemHostAlloc", c.allocHost(&made.host, uint64(r.size), 0)); err != nil {
		return nil, err
	}
	if c.alloc(&made.device, uint64(r.size)) != 0 {
		made.device = 0 // without memory on the GPU, the chunk is copied in the order of the launches
	}
	*p = made
	r.next = (r.next + 1) % len(r.chunks)
	return p, nil
}

// send copies data to the device, at most as much as a chunk holds, and returns the number of bytes.
func (x *Context) send(to uint64, data []byte) (int, error) {
	c, r := x.c, &x.staging.small
	if len(data) > smallSize {
		r = &x.staging.large
	}
	p, err := r.take(c)
	if err != nil {
		return 0, err
	}
	n := copy(unsafe.Slice((*byte)(p.host), r.size), data)
	if p.device == 0 {
		err = c.check("cuMemcpyHtoDAsync", c.toDevice(to, p.host, uint64(n), x.stream))
	} else {
		err = x.sendBeside(p, to, n)
	}
	if err != nil {
		return 0, err
	}
	return n, c.check("cuEventRecord", c.record(p.free, x.stream))
}

// sendBeside copies a chunk to the GPU beside the launches, and from there to its buffer after them.
func (x *Context) sendBeside(p *chunk, to uint64, n int) error {
	c := x.c
	err := c.check("cuMemcpyHtoDAsync", c.toDevice(p.device, p.host, uint64(n), x.staging.copies))
	if err == nil {
		err = c.check("cuEventRecord", c.record(p.arrived, x.staging.copies))
	}
	if err == nil {
		err = c.check("cuStreamWaitEvent", c.follow(x.stream, p.arrived, 0))
	}
	if err == nil {
		err = c.check("cuMemcpyDtoDAsync", c.onDevice(to, p.device, uint64(n), x.stream))
	}
	return err
}

// Transfer is a copy from an address of the device to Data.
type Transfer struct {
	Data []byte
	From uint64
}

// Read starts to copy from the device, after all earlier launches. The function that it returns waits until
// the data has arrived; another goroutine may call it, once. Read waits while two reads are under way.
func (x *Context) Read(list []Transfer) (wait func() error, err error) {
	total := 0
	for _, t := range list {
		total += len(t.Data)
	}
	if total > largeSize {
		err := x.do(func() error { return x.readLarge(list) })
		return func() error { return nil }, err
	}
	a := &x.staging.back[x.staging.next]
	x.staging.next = 1 - x.staging.next
	a.used.Lock()
	if err := x.do(func() error { return x.fetch(a, list) }); err != nil {
		a.used.Unlock()
		return nil, err
	}
	return func() error {
		defer a.used.Unlock()
		if err := x.do(func() error { return x.c.check("cuEventSynchronize", x.c.waitEvent(a.done)) }); err != nil {
			return err
		}
		from := unsafe.Slice((*byte)(a.host), largeSize)
		for _, t := range list {
			from = from[copy(t.Data, from):]
		}
		return nil
	}, nil
}

// fetch starts to copy data to an area.
func (x *Context) fetch(a *area, list []Transfer) error {
	if err := a.open(x.c); err != nil {
		return err
	}
	to := a.host
	for _, t := range list {
		n := len(t.Data)
		if n == 0 {
			continue
		}
		if err := x.c.check("cuMemcpyDtoHAsync", x.c.toHost(to, t.From, uint64(n), x.stream)); err != nil {
			return err
		}
		to = unsafe.Add(to, n)
	}
	return x.c.check("cuEventRecord", x.c.record(a.done, x.stream))
}

// readLarge copies data of any size. One area is filled while the other is emptied.
func (x *Context) readLarge(list []Transfer) error {
	areas := &x.staging.bulk
	var last []byte // the data that the previous area gets
	k := 0
	empty := func() error { // empties the previous area
		if last == nil {
			return nil
		}
		a := &areas[(k+1)%2]
		if err := x.c.check("cuEventSynchronize", x.c.waitEvent(a.done)); err != nil {
			return err
		}
		copy(last, unsafe.Slice((*byte)(a.host), largeSize))
		return nil
	}
	for _, t := range list {
		for at := 0; at < len(t.Data); at += largeSize {
			some := t.Data[at:min(at+largeSize, len(t.Data))]
			if err := x.fetch(&areas[k%2], []Transfer{{some, t.From + uint64(at)}}); err != nil {
				return err
			}
			if err := empty(); err != nil {
				return err
			}
			last = some
			k++
		}
	}
	return empty()
}
