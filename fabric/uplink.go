package fabric

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/collective"
	"github.com/bnctl/bnctl/tensor"
)

// Uplink completes the exchanges of this rank's devices with those of all other
// ranks: a collective.Uplink.
//
// Sums are shared out: every rank combines its share of the elements along the
// tree and sends the result to all. With G bytes of results, P ranks and k parts
// of each value per rank that is (k+1) G (P-1)/P bytes sent by each rank. What
// is small is not worth two messages, and moments cannot be cut: all parts go to
// all ranks, and each combines them all.
type Uplink struct {
	peers *Peers
	nodes [][]collective.Node      // by rank: Cover of its replicas
	tree  int                      // leaves
	sent  [collective.Lanes][]byte // by lane: memory of the last message that was sent
}

// NewUplink returns the uplink of a rank in a run in which each rank holds the
// replicas that follow those of the rank before: counts says how many.
func NewUplink(p *Peers, counts []int) *Uplink {
	u := &Uplink{peers: p}
	for _, n := range counts {
		u.tree += n
	}
	next := 0
	for _, n := range counts {
		var held []int
		for range n {
			held = append(held, next)
			next++
		}
		u.nodes = append(u.nodes, collective.Cover(u.tree, held))
	}
	return u
}

// Nodes returns what the parts of this rank are of.
func (u *Uplink) Nodes() []collective.Node { return u.nodes[u.peers.Rank()] }

// sharedFrom is from how many bytes on a sum is shared out: below, a second
// message takes longer than what it saves.
const sharedFrom = 16 << 10

// Complete makes an exchange with all other ranks: each value comes with a part
// for each of Nodes, in order. Exchanges of a lane are made one after the other,
// in the same order on all ranks. The error wraps collective.Aborted if a rank
// has called the turn off.
func (u *Uplink) Complete(ctx context.Context, tag collective.Tag, values []collective.Reduction) error {
	e := &exchange{Uplink: u, values: values, lane: tag.Lane}
	if err := e.sendParts(ctx, tag.Sequence); err != nil {
		return err
	}
	if err := e.receiveParts(ctx, tag.Sequence); err != nil {
		return err
	}
	return e.shareResults(ctx, tag.Sequence)
}

// exchange is one that is under way.
type exchange struct {
	*Uplink
	values []collective.Reduction
	lane   collective.Lane
}

// shared reports whether every rank combines a share of a value.
func (e *exchange) shared(v *collective.Reduction) bool {
	return v.Op == collective.Sum && len(v.Result.Bytes) >= sharedFrom
}

// share returns the bytes of a value that a rank combines.
func (e *exchange) share(v *collective.Reduction, rank int) (from, to int) {
	if !e.shared(v) {
		return 0, len(v.Result.Bytes)
	}
	size := v.Result.DType.Size()
	n := len(v.Result.Bytes) / size
	return rank * n / e.peers.Size() * size, (rank + 1) * n / e.peers.Size() * size
}

// A value, or a part of it, begins with a byte that says whether any replica had rows.
const (
	absent  = 0
	present = 1
)

// sendParts sends to each rank what it is to combine.
func (e *exchange) sendParts(ctx context.Context, sequence uint64) error {
	h := header{parts, e.peers.turn.Load(), sequence}
	for to := range e.nodes {
		if to == e.peers.Rank() {
			continue
		}
		room := 0
		for i := range e.values {
			a, b := e.share(&e.values[i], to)
			room += len(e.values[i].Parts) * (1 + b - a)
		}
		m := h.begin(room, e.sent[e.lane])
		for i := range e.values {
			a, b := e.share(&e.values[i], to)
			for _, p := range e.values[i].Parts {
				m = appendPart(m, p.Value, a, b)
			}
		}
		e.sent[e.lane] = m
		if err := e.peers.send(ctx, to, e.lane, m); err != nil {
			return err
		}
	}
	return nil
}

func appendPart(m []byte, t tensor.Tensor, from, to int) []byte {
	if t.IsZero() {
		return append(m, absent)
	}
	return append(append(m, present), t.Bytes[from:to]...)
}

// receiveParts receives all parts of this rank's share and combines them into
// the results.
func (e *exchange) receiveParts(ctx context.Context, sequence uint64) error {
	rank := e.peers.Rank()
	all := make([][]collective.Part, len(e.values))
	for from, nodes := range e.nodes {
		var content []byte
		if from != rank {
			var err error
			h := header{parts, e.peers.turn.Load(), sequence}
			if content, err = e.peers.receive(ctx, from, e.lane, h); err != nil {
				return err
			}
		}
		for i := range e.values {
			v := &e.values[i]
			a, b := e.share(v, rank)
			for k, n := range nodes {
				var t tensor.Tensor
				if from == rank {
					t = cut(v.Parts[k].Value, a, b)
				} else if bytes, err := takePart(&content, b-a); err != nil {
					return fmt.Errorf("rank %d: %w", from, err)
				} else if bytes != nil {
					t = v.Result
					t.Bytes = aligned(bytes)
				}
				all[i] = append(all[i], collective.Part{Node: n, Value: t})
			}
		}
		if len(content) > 0 {
			return fmt.Errorf("rank %d: %d bytes too many in exchange %d", from, len(content), sequence)
		}
	}
	for i := range e.values {
		v := &e.values[i]
		sum, err := collective.Combine(v.Op, e.tree, all[i])
		if err != nil {
			return err
		}
		a, b := e.share(v, rank)
		if sum.IsZero() {
			clear(v.Result.Bytes[a:b])
			continue
		}
		copy(v.Result.Bytes[a:b], sum.Bytes)
	}
	return nil
}

// cut returns bytes of a part: a view, but for an absent one.
func cut(t tensor.Tensor, from, to int) tensor.Tensor {
	if !t.IsZero() {
		t.Bytes = t.Bytes[from:to:to]
	}
	return t
}

// aligned copies bytes to where floats may be.
func aligned(b []byte) []byte {
	t := tensor.New(tensor.U8, len(b))
	copy(t.Bytes, b)
	return t.Bytes
}

// takePart cuts the next part off a message; nil if it is absent.
func takePart(m *[]byte, bytes int) ([]byte, error) {
	b := *m
	if len(b) == 0 || b[0] > present || b[0] == present && len(b) < 1+bytes {
		return nil, fmt.Errorf("%d bytes are left of a message, want a part of %d: the ranks do not do the same",
			len(b), bytes)
	}
	if b[0] == absent {
		*m = b[1:]
		return nil, nil
	}
	*m = b[1+bytes:]
	return b[1 : 1+bytes : 1+bytes], nil
}

// shareResults sends this rank's share of the results to all others and
// receives theirs.
func (e *exchange) shareResults(ctx context.Context, sequence uint64) error {
	rank := e.peers.Rank()
	h := header{results, e.peers.turn.Load(), sequence}
	var mine []byte
	for i := range e.values {
		if v := &e.values[i]; e.shared(v) {
			a, b := e.share(v, rank)
			if mine == nil {
				mine = h.begin(b-a, e.sent[e.lane])
			}
			mine = append(mine, v.Result.Bytes[a:b]...)
		}
	}
	if mine == nil {
		return nil // all ranks have all results
	}
	e.sent[e.lane] = mine
	for to := range e.nodes {
		if to == rank {
			continue
		}
		if err := e.peers.send(ctx, to, e.lane, mine); err != nil {
			return err
		}
	}
	for from := range e.nodes {
		if from == rank {
			continue
		}
		content, err := e.peers.receive(ctx, from, e.lane, h)
		if err != nil {
			return err
		}
		for i := range e.values {
			if v := &e.values[i]; e.shared(v) {
				a, b := e.share(v, from)
				if len(content) < b-a {
					return fmt.Errorf("rank %d: %d bytes are left of its results, want %d", from, len(content), b-a)
				}
				content = content[copy(v.Result.Bytes[a:b], content):]
			}
		}
	}
	return nil
}
