package serve

import (
	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/tensor"
)

// chunks is the memory that this process allocates for the values of exchanges. The host
// maps it too, so that the values need not be copied through a ring. The zero value has no
// memory.
type chunks struct {
	pool *shm.Pool
	path string
}

// chunk is the memory of one exchange.
type chunk struct {
	offset  int
	results []tensor.Tensor
}

// minChunk is the minimum size, in bytes, of values that are stored in the pool.
const minChunk = 32 << 10

// join maps the memory that the host offers to a member of a new group. If that fails, values are sent
// instead. The values of the previous group are no longer in use.
func (c *chunks) join(path string) {
	if path != c.path {
		c.leave()
		if c.path = path; path != "" {
			c.pool, _ = shm.OpenPool(path)
		}
	}
	if c.pool != nil {
		c.pool.Reset()
	}
}

func (c *chunks) leave() {
	if c.pool != nil {
		_ = c.pool.Close() // closes the file only; the memory belongs to the host
		c.pool = nil
	}
}

// store copies the partial values of an exchange into the host's pool and sets the chunk of
// x. It returns nil if the values must be sent.
func (c *chunks) store(x *pb.Exchange, partials []tensor.Tensor) *chunk {
	if c.pool == nil || wire.Bytes(partials) < minChunk {
		return nil
	}
	n, err := wire.SizeOfChunk(x)
	if err != nil {
		return nil
	}
	memory := c.pool.Alloc(n)
	if memory == nil {
		return nil
	}
	offset, _ := c.pool.Offset(memory)
	at, results, err := wire.InChunk(memory, x)
	if err != nil {
		c.pool.Free(offset)
		return nil
	}
	for i, p := range partials {
		copyCached(at[i].Bytes, p.Bytes)
	}
	x.Chunk = &pb.Chunk{Offset: int64(offset), Bytes: int64(n)}
	return &chunk{offset, results}
}

// copyCached copies in pieces, because Go copies long ranges without using the caches, and other
// processes will read the bytes soon.
func copyCached(dst, src []byte) {
	for len(src) > 0 {
		n := copy(dst, src[:min(len(src), cachedBytes)])
		dst, src = dst[n:], src[n:]
	}
}

const cachedBytes = 256 << 10

// fetch copies the results of an exchange and frees its chunk.
func (c *chunks) fetch(k *chunk, values []collective.Reduction) {
	for i, v := range values {
		copy(v.Result.Bytes, k.results[i].Bytes)
	}
	c.pool.Free(k.offset)
}
