package ptx

import "fmt"

// Regions of memory are 4 GiB apart, so an index beyond one is not in any region.
const (
	sharedBase = 1 << 52
	localBase  = 2 << 52
)

type space int

const (
	global space = iota
	shared
	local
)

// region is a buffer, a shared variable, or a local variable of all threads.
type region struct {
	space  space
	size   int // number of bytes that a thread may access
	data   []byte
	shadow []word
	grain  int // bytes for each word of shadow: 4, or 1 after the first access to a byte
}

// of returns the words that record accesses to n bytes from byte at on.
func (r *region) of(at, n int) []word { return r.shadow[at/r.grain : (at+n+r.grain-1)/r.grain] }

// split makes the region record accesses to each byte, instead of words of four bytes.
func (r *region) split() {
	if r.grain == 1 {
		return
	}
	bytes := make([]word, 0, len(r.data))
	for _, w := range r.shadow {
		bytes = append(bytes, w, w, w, w)
	}
	r.shadow, r.grain = bytes, 1
}

// word records the accesses to 4 bytes, or to one byte. Epochs count the intervals between barriers,
// over all launches. Epoch 0 means never.
type word struct {
	wrote, read    uint32 // epochs of the last write and of the last read
	writer, reader int32  // lanes of the last write and of the last read
	across         uint32 // the last launch in which more than one block has read the word
}

const many = -1 // several lanes, in place of a lane's number

// Machine has memory, and runs kernels. Only one goroutine may use it at a time.
type Machine struct {
	Budget  int // nodes that a block may run before it is considered endless
	buffers map[uint64]*region
	last    uint64
	epoch   uint32
}

// New returns a machine with empty memory.
func New() *Machine {
	return &Machine{Budget: 1 << 26, buffers: map[uint64]*region{}, epoch: 1}
}

// Alloc returns the address of a new buffer. Its content is undefined, and reading it
// before it is written is a fault.
func (m *Machine) Alloc(bytes int) uint64 {
	m.last++
	m.buffers[m.last] = newRegion(global, bytes, 1)
	return m.last << 32
}

func newRegion(s space, size, copies int) *region {
	words := (size + 3) / 4 * copies
	return &region{space: s, size: size, data: make([]byte, 4*words), shadow: make([]word, words), grain: 4}
}

// Free frees a buffer.
func (m *Machine) Free(address uint64) error {
	if m.buffers[address>>32] == nil || uint32(address) != 0 {
		return fmt.Errorf("ptx: %#x is no buffer", address)
	}
	delete(m.buffers, address>>32)
	return nil
}

// span returns the buffer at an address, and the offset of the address in it. The offset must be a
// multiple of 4, and n bytes must follow it.
func (m *Machine) span(address uint64, n int) (*region, int, error) {
	r, at := m.buffers[address>>32], int(uint32(address))
	if r == nil || at+n > r.size || at%4 != 0 {
		return nil, 0, fmt.Errorf("ptx: %d bytes at %#x are not within a buffer, from a word of 4 on", n, address)
	}
	return r, at, nil
}

func (m *Machine) words(address uint64, n int) (*region, int, error) {
	r, at, err := m.span(address, n)
	if err == nil && n%4 != 0 && at+n != r.size {
		err = fmt.Errorf("ptx: %d bytes at %#x are no whole words of 4", n, address)
	}
	return r, at, err
}

// Write copies data from the host to a buffer.
func (m *Machine) Write(to uint64, data []byte) error {
	r, at, err := m.words(to, len(data))
	if err != nil {
		return err
	}
	copy(r.data[at:], data)
	known := r.of(at, len(data))
	for i := range known {
		known[i] = word{wrote: 1}
	}
	return nil
}

// Read copies from a buffer to the host. Reading memory that was never written is an error.
func (m *Machine) Read(data []byte, from uint64) error {
	r, at, err := m.span(from, len(data))
	if err != nil {
		return err
	}
	for i, w := range r.of(at, len(data)) {
		if w.wrote == 0 {
			return fmt.Errorf("ptx: the host reads byte %d of a buffer of %d, which was never written",
				at+r.grain*i, r.size)
		}
	}
	copy(data, r.data[at:])
	return nil
}

// Copy copies n bytes between buffers. Bytes that were never written are still unwritten in the copy.
func (m *Machine) Copy(to, from uint64, n int) error {
	src, i, err := m.words(from, n)
	if err != nil {
		return err
	}
	dst, j, err := m.words(to, n)
	if err != nil {
		return err
	}
	copy(dst.data[j:j+n], src.data[i:i+n])
	if src.grain != dst.grain {
		src.split()
		dst.split()
	}
	known := dst.of(j, n)
	for k, w := range src.of(i, n) {
		known[k] = word{wrote: min(w.wrote, 1)}
	}
	return nil
}
