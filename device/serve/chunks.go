package serve

import (
	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/tensor"
)

// chunks is memory that this process takes for the values of exchanges, and that the
// host maps too: so it need not read them from a ring and write them to one. The
// zero value has none.
type chunks struct {
	pool *shm.Pool
	path string
}

// chunk is that of one exchange.
type chunk struct {
	offset  int
	results []tensor.Tensor
}

// worthChunk is from how many bytes on values go there.
const worthChunk = 32 << 10

// join maps the memory that the host offers to a member of a new group; where it cannot
// be had values are sent. Nobody is at those of the former group any more.
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
		_ = c.pool.Close() // it was mapped; the memory is the host's
		c.pool = nil
	}
}

// take puts the parts of an exchange where the host finds them, and says so in it. It
// returns nil if they are to be sent.
func (c *chunks) take(x *pb.Exchange, parts []tensor.Tensor) *chunk {
	if c.pool == nil || wire.Bytes(parts) < worthChunk {
		return nil
	}
	n, err := wire.SizeOfChunk(x)
	if err != nil {
		return nil
	}
	memory := c.pool.Take(n)
	if memory == nil {
		return nil
	}
	offset, _ := c.pool.Offset(memory)
	at, results, err := wire.InChunk(memory, x)
	if err != nil {
		c.pool.Give(offset)
		return nil
	}
	for i, p := range parts {
		near(at[i].Bytes, p.Bytes)
	}
	x.Chunk = &pb.Chunk{Offset: int64(offset), Bytes: int64(n)}
	return &chunk{offset, results}
}

// near copies by pieces: what is longer Go copies past the caches, out of which
// others will read it.
func near(dst, src []byte) {
	for len(src) > 0 {
		n := copy(dst, src[:min(len(src), nearBytes)])
		dst, src = dst[n:], src[n:]
	}
}

const nearBytes = 256 << 10

// fetch takes the results of an exchange, and gives its chunk back.
func (c *chunks) fetch(k *chunk, values []collective.Reduction) {
	for i, v := range values {
		copy(v.Result.Bytes, k.results[i].Bytes)
	}
	c.pool.Give(k.offset)
}
