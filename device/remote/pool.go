package remote

import (
	"fmt"
	"slices"
	"sync"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/tensor"
)

// pools lists the pools of all devices of this process. The pools have the values that
// devices exchange, and the plugin of a fabric may send from them. The list is global because
// sessions and fabrics have no other connection: a session does not know about fabrics, and a
// fabric gets slices of bytes. poolOf finds the pool of a slice by its address.
var pools struct {
	sync.RWMutex
	all []*shm.Pool
}

// poolOf returns the pool that contains b and the offset of b in it. It returns nil if
// there is no such pool.
func poolOf(b []byte) (*shm.Pool, int) {
	pools.RLock()
	defer pools.RUnlock()
	for _, p := range pools.all {
		if at, ok := p.Offset(b); ok {
			return p, at
		}
	}
	return nil, 0
}

// offerPool returns the path of memory for the values that a member of a group exchanges
// with other ranks through this process, or "". A group that has all leaves of the tree does not
// need a pool, because it exchanges values in its group memory or over the session. The pool is
// created with the first group that needs it, and exists as long as the device.
func (s *session) offerPool(g device.Group) string {
	if g.Whole() || s.host == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool == nil && !s.closing.Load() {
		if p, err := shm.NewPool(); err == nil { // without a pool, values are sent and received
			s.pool = p
			pools.Lock()
			defer pools.Unlock()
			pools.all = append(pools.all, p)
		}
	}
	if s.pool == nil {
		return ""
	}
	return s.pool.Path()
}

// dropPool frees the memory after the device is gone. Exchanges that used its values have
// ended with an error.
func (s *session) dropPool() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool == nil {
		return
	}
	pools.Lock()
	defer pools.Unlock()
	pools.all = slices.DeleteFunc(pools.all, func(p *shm.Pool) bool { return p == s.pool })
	_ = s.pool.Drop() // fails only if the memory cannot be freed
	s.pool = nil
}

// inChunk returns the partial values and the results of an exchange as views of the pool. The
// device has written the partial values there. After the answer it reads each result at the
// offset of the value's first partial value:
//
//	pool  │ … │ partials bn1.moments │ partials bn2.moments │ … │
//	          └───────────────────── chunk ─────────────────┘
func (s *session) inChunk(c *call, x *pb.Exchange) (partials, results []tensor.Tensor, err error) {
	k := x.GetChunk()
	if s.pool == nil || k.GetOffset()%tensor.Alignment != 0 {
		return nil, nil, fmt.Errorf("a chunk at %d of memory that was not offered", k.GetOffset())
	}
	chunk, ok := s.pool.At(k.GetOffset(), k.GetBytes())
	if !ok {
		return nil, nil, fmt.Errorf("a chunk of %d bytes at %d: the pool ends before", k.GetBytes(), k.GetOffset())
	}
	if partials, results, err = wire.InChunk(chunk, x); err == nil {
		err = s.countPartials(c, partials)
	}
	return partials, results, err
}
