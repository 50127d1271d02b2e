package collective

import (
	"context"
	"errors"

	"github.com/bnctl/bnctl/tensor"
)

// Uplink completes the exchanges of a hub that holds only some of the replicas, together
// with the machines that hold the others.
type Uplink interface {
	// Nodes returns the Cover of all replicas that the members of the hub hold
	// together.
	Nodes() []Node
	// Complete makes an exchange. Each value comes with a partial value for each of Nodes, in order.
	// Complete may overwrite a partial value, and the Result may share its memory. If Complete returns no
	// error, every Result is complete. The exchanges of a lane are made one after the other; the two lanes
	// are concurrent. Complete returns soon after ctx has ended.
	Complete(ctx context.Context, tag Tag, values []Reduction) error
}

// Starter is an Uplink that may begin an exchange of a lane before the previous one has ended.
type Starter interface {
	Uplink
	// Start begins the exchange that Complete would make. wait returns when the exchange has
	// ended. The caller must call wait.
	Start(ctx context.Context, tag Tag, values []Reduction) (wait func() error)
}

// NewHubBelow returns the exchange point of size members that hold only a part of the replicas. The
// uplink exchanges values with the machines that hold the others. Before the uplink is used for anything
// else, call Wait of the hub.
func NewHubBelow(u Uplink, leaves, size int) *Hub {
	h := NewHub(leaves, size)
	h.uplink = u
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// Wait returns when no exchange of the uplink is in progress. After Abort this is soon.
func (h *Hub) Wait() { h.wait.Wait() }

// forward starts a goroutine that completes a round with the uplink. The exchange of the round begins
// after the exchange of the previous round of the lane has begun. The caller has locked the hub.
func (h *Hub) forward(r *round) {
	before := h.last[r.tag.Lane]
	h.last[r.tag.Lane] = r
	r.forwarding = true
	h.forwarding++
	h.wait.Go(func() {
		defer r.setBegun()
		if before != nil {
			<-before.begun
		}
		err := h.ctx.Err()
		if err == nil {
			err = h.complete(r)
		}
		h.mu.Lock()
		h.forwarding--
		h.completed++
		r.err = err
		h.calledOff = h.calledOff || h.abort == nil && errors.Is(err, Aborted)
		h.mu.Unlock()
		close(r.done)
		if err != nil {
			h.Abort(err)
		}
	})
}

// complete combines the members' values into partial values of the hub, completes them with
// the uplink, and copies the results to the members.
func (h *Hub) complete(r *round) error {
	if err := r.agree(); err != nil {
		return err
	}
	values := make([]Reduction, len(r.values[0]))
	for i := range values {
		var partials []Partial
		for _, v := range r.values {
			partials = append(partials, v[i].Partials...)
		}
		first := r.values[0][i]
		combined, err := combineTo(first.Op, h.uplink.Nodes(), partials)
		if err != nil {
			return err
		}
		values[i] = Reduction{Op: first.Op, Partials: combined, Result: first.Result}
	}
	if err := h.completeAbove(r, values); err != nil {
		return err
	}
	return r.deliver(func(i int) tensor.Tensor { return values[i].Result })
}

// completeAbove makes an exchange of the uplink. If the uplink is a Starter, the next exchange may begin as
// soon as this one has begun; otherwise it begins when this one has ended.
func (h *Hub) completeAbove(r *round, values []Reduction) error {
	s, ok := h.uplink.(Starter)
	if !ok {
		return h.uplink.Complete(h.ctx, r.tag, values)
	}
	wait := s.Start(h.ctx, r.tag, values)
	r.setBegun()
	return wait()
}

// setBegun lets the next round of the lane begin.
func (r *round) setBegun() { r.once.Do(func() { close(r.begun) }) }

// CalledOff reports whether the uplink ended the group, because another machine of the
// run had ended its group.
func (h *Hub) CalledOff() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calledOff
}
