package remote

import (
	"sync"

	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/wire"
)

// answers sends the answers to the exchanges of a run when the exchanges are complete, one after the
// other in each lane of messages. It reuses the memory of finished exchanges, because every step has the
// same number of exchanges with the same sizes.
type answers struct {
	sending [collective.Lanes]sync.Mutex
	mu      sync.Mutex
	free    []*buffers
}

// buffers is memory for the values of one exchange.
type buffers struct{ partials, results wire.Arena }

// get returns memory that no exchange uses.
func (a *answers) get() *buffers {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.free) == 0 {
		return &buffers{}
	}
	last := len(a.free) - 1
	r := a.free[last]
	a.free = a.free[:last]
	return r
}

// put returns the memory of an exchange to the pool. It must not be called if the exchange
// failed, because members of the group may then still be adding the values in the memory.
func (a *answers) put(r *buffers) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.free = append(a.free, r)
}

// send sends an answer. The last argument reports whether the results are sent with the answer.
func (a *answers) send(conn wire.Conn, m *pb.Message, values []collective.Reduction, there bool) error {
	a.sending[m.Lane].Lock()
	defer a.sending[m.Lane].Unlock()
	if !there {
		return conn.Send(m, nil)
	}
	return conn.Send(m, wire.Results(values))
}
