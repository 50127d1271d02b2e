package collective

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/bnctl/bnctl/tensor"
)

// Aborted is the error of members of a group that ended before all had arrived.
var Aborted = errors.New("group aborted")

// Hub is the exchange point of a group inside one process. It is the transport between
// devices of the process, and the host's side of transports that send partial values to
// the host.
type Hub struct {
	leaves int
	size   int

	mu        sync.Mutex
	rounds    [Lanes][]*round // rounds that wait for values of members, the oldest first
	completed int
	abort     error
	ended     chan struct{} // closed by Abort

	// The fields below are used only by a hub with an uplink.
	uplink     Uplink
	ctx        context.Context // ends with the group
	cancel     context.CancelFunc
	wait       sync.WaitGroup // waits for the uplink's goroutines
	forwarding int            // rounds that the uplink has not completed
	calledOff  bool           // the uplink ended the group
	last       [Lanes]*round  // last round that was passed to the uplink
}

// round is one exchange. It collects the values of the members.
type round struct {
	tag     Tag
	values  [][]Reduction // values by rank; nil until they arrive
	arrived int
	done    chan struct{}
	err     error
	begun   chan struct{} // closed when the uplink may begin the next round
	once    sync.Once

	forwarding bool // the uplink completes this round
}

// NewHub returns the exchange point of size members over the given number of replicas.
func NewHub(leaves, size int) *Hub {
	return &Hub{leaves: leaves, size: size, ended: make(chan struct{})}
}

// Abort ends the group. A member that waits in an exchange, or starts one later, gets
// an error that wraps Aborted and cause. Only the first call counts.
func (h *Hub) Abort(cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.abort == nil {
		h.abort = cause
		if !errors.Is(cause, Aborted) {
			h.abort = fmt.Errorf("%w: %w", Aborted, cause)
		}
		close(h.ended)
		if h.cancel != nil {
			h.cancel()
		}
	}
}

// Missing returns the ranks that other ranks wait for, in the first lane with an exchange in
// progress. It returns nil if no rank waits. It returns an empty slice, not nil, while all
// ranks of this hub wait for the uplink.
func (h *Hub) Missing() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, rounds := range h.rounds {
		if len(rounds) > 0 {
			return rounds[0].missing()
		}
	}
	if h.forwarding > 0 {
		return []int{}
	}
	return nil
}

func (r *round) missing() []int {
	var missing []int
	for rank, v := range r.values {
		if v == nil {
			missing = append(missing, rank)
		}
	}
	return missing
}

// Exchanges returns how many exchanges were completed.
func (h *Hub) Exchanges() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.completed
}

// Member returns the Exchanger of one rank.
func (h *Hub) Member(rank int) Exchanger { return member{h, rank} }

type member struct {
	hub  *Hub
	rank int
}

// Start never blocks on other members. The member that starts an exchange last computes the sums of moments.
// A goroutine computes those of gradients, so that this member's moments do not wait for them.
func (m member) Start(ctx context.Context, tag Tag, values []Reduction) func() error {
	r, last, err := m.hub.enter(m.rank, tag, values)
	switch {
	case err != nil:
		return func() error { return err }
	case last && tag.Lane == Gradients:
		go m.hub.finish(r)
	case last:
		m.hub.finish(r)
	}
	return func() error {
		select {
		case <-r.done:
			return r.err
		case <-m.hub.ended:
			m.hub.release(r)
			return m.hub.abort
		case <-ctx.Done():
			m.hub.release(r)
			return ctx.Err()
		}
	}
}

// release waits until the values of a round are not used any more. If the uplink is still using them,
// release first aborts the group, so that the wait is short.
func (h *Hub) release(r *round) {
	h.mu.Lock()
	forwarding, full := r.forwarding, r.arrived == h.size
	h.mu.Unlock()
	if forwarding {
		h.Abort(context.Canceled)
	}
	if full {
		<-r.done
	}
}

// enter adds a member to its next round of a lane. If the member is the last one, enter passes the round to
// the uplink, or returns true for last: the caller must then call finish. All members start exchanges in the
// same order, so rounds are begun in this order.
func (h *Hub) enter(rank int, tag Tag, values []Reduction) (r *round, last bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.abort != nil {
		return nil, false, h.abort
	}
	if tag.Lane >= Lanes {
		return nil, false, fmt.Errorf("collective: rank %d came to %+v, and there are %d lanes", rank, tag, Lanes)
	}
	r = h.round(rank, tag)
	if values == nil {
		values = []Reduction{}
	}
	r.values[rank] = values
	r.arrived++
	if tag != r.tag && r.err == nil {
		r.err = fmt.Errorf("collective: rank %d came to %+v while others are at %+v", rank, tag, r.tag)
	}
	if r.arrived < h.size {
		return r, false, nil
	}
	h.rounds[tag.Lane] = h.rounds[tag.Lane][1:]
	if r.err == nil && h.uplink != nil {
		h.forward(r)
		return r, false, nil
	}
	return r, true, nil
}

// finish completes a round at which all members have arrived.
func (h *Hub) finish(r *round) {
	if r.err == nil {
		r.err = h.reduce(r)
	}
	h.mu.Lock()
	h.completed++
	h.mu.Unlock()
	close(r.done)
}

// round returns the first round of the tag's lane at which rank has not arrived.
func (h *Hub) round(rank int, tag Tag) *round {
	for _, r := range h.rounds[tag.Lane] {
		if r.values[rank] == nil {
			return r
		}
	}
	r := &round{tag: tag, values: make([][]Reduction, h.size), done: make(chan struct{}),
		begun: make(chan struct{})}
	h.rounds[tag.Lane] = append(h.rounds[tag.Lane], r)
	return r
}

// reduce completes the tree of every value of a round, and copies the results to all ranks.
func (h *Hub) reduce(r *round) error {
	if err := r.agree(); err != nil {
		return err
	}
	sums := make([]tensor.Tensor, len(r.values[0]))
	for i := range sums {
		var partials []Partial
		for _, v := range r.values {
			partials = append(partials, v[i].Partials...)
		}
		var err error
		if sums[i], err = Combine(r.values[0][i].Op, h.leaves, partials); err != nil {
			return err
		}
	}
	return r.deliver(func(i int) tensor.Tensor { return sums[i] })
}

// deliver copies the result of every value to all ranks.
func (r *round) deliver(sum func(i int) tensor.Tensor) error {
	for i := range r.values[0] {
		for rank, v := range r.values {
			if err := deliver(v[i].Result, sum(i)); err != nil {
				return fmt.Errorf("rank %d at %+v: %w", rank, r.tag, err)
			}
		}
	}
	return nil
}

// agree returns an error unless all ranks have the same number of values, with the same
// operations.
func (r *round) agree() error {
	first := r.values[0]
	for rank, v := range r.values {
		same := len(v) == len(first)
		for i := 0; same && i < len(v); i++ {
			same = v[i].Op == first[i].Op
		}
		if !same {
			return fmt.Errorf("collective: rank %d and rank 0 reduce different values at %+v", rank, r.tag)
		}
	}
	return nil
}

// deliver copies a result to a member. An absent result becomes zeros.
func deliver(dst, sum tensor.Tensor) error {
	if sum.IsZero() {
		clear(dst.Bytes)
		return nil
	}
	if dst.DType != sum.DType || len(dst.Bytes) != len(sum.Bytes) {
		return fmt.Errorf("collective: result is %v, want %v", sum, dst)
	}
	if len(sum.Bytes) > 0 && &dst.Bytes[0] != &sum.Bytes[0] { // skip the copy if dst is the sum itself
		copy(dst.Bytes, sum.Bytes)
	}
	return nil
}
