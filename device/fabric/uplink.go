package fabric

import (
	"cmp"
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/tensor"
)

// Uplink completes the exchanges of this rank's devices across all other ranks: a
// collective.Uplink.
//
// Large sums are reduce-scattered and all-gathered: every rank combines one range of the
// elements along the tree and sends the result to all ranks. With G bytes of results, P
// ranks and k partial values of each value per rank, each rank sends (k+1) G (P-1)/P bytes.
// This is never more than the k G (P-1) bytes of sending all partial values to all ranks.
// Small sums are not worth a second message, and moments cannot be split. All ranks get all
// partial values of these, and combine them independently.
//
// Ranks on the same machine read each other's values in place (Lender), so a value must not
// be overwritten before all ranks have read it. When a rank sends its range of the results,
// it has read the partial values of this range. It sends a separate message when it has read
// the results of the other ranks.
type Uplink struct {
	peers *Peers
	nodes [][]collective.Node // Cover of the replicas of each rank
	tree  int                 // number of leaves
	lanes [collective.Lanes]lane
}

// lane has the memory that the exchanges of a lane use one after the other.
type lane struct {
	message  message
	assembly *collective.Assembly
	sum      tensor.Tensor // memory for a sum
}

// NewUplink returns the uplink of this rank. counts has the number of replicas of each rank.
// Rank 0 has the first replicas, rank 1 the next ones, and so on.
func NewUplink(p *Peers, counts []int) *Uplink {
	u := &Uplink{peers: p}
	for _, n := range counts {
		u.tree += n
	}
	next := 0
	var replicas [][]int
	for _, n := range counts {
		var local []int
		for range n {
			local = append(local, next)
			next++
		}
		replicas = append(replicas, local)
		u.nodes = append(u.nodes, collective.Cover(u.tree, local))
	}
	for i := range u.lanes {
		u.lanes[i].assembly = collective.NewAssembly(u.tree, replicas)
	}
	return u
}

// Nodes returns the nodes of this rank's partial values.
func (u *Uplink) Nodes() []collective.Node { return u.nodes[u.peers.Rank()] }

// sharedFrom is the minimum size, in bytes, of a sum that is divided among the ranks: for
// smaller sums a second message costs more time than it saves.
const sharedFrom = 16 << 10

// Complete makes an exchange with all other ranks. Each value has a partial value for each of Nodes, in
// order. Exchanges of a lane are made one after the other, in the same order on all ranks. The error
// wraps collective.Aborted if a rank has called the round off.
func (u *Uplink) Complete(ctx context.Context, tag collective.Tag, values []collective.Reduction) error {
	e := &exchange{Uplink: u, values: values, number: tag.Lane, lane: &u.lanes[tag.Lane],
		sequence: uint32(tag.Sequence), came: make([][]tensor.Tensor, len(u.nodes))}
	if err := e.sendParts(ctx); err != nil {
		return err
	}
	if err := e.receiveParts(ctx); err != nil {
		return err
	}
	return e.shareResults(ctx)
}

// exchange is an exchange in progress.
type exchange struct {
	*Uplink
	*lane
	number   collective.Lane
	sequence uint32
	values   []collective.Reduction
	came     [][]tensor.Tensor // parts of this rank's share, by sending rank, value by value
}

func (e *exchange) header(k kind) header { return header{k, e.peers.round.Load(), e.sequence} }

// others calls f for every other rank.
func (e *exchange) others(f func(rank int) error) error {
	for rank := range e.nodes {
		if rank == e.peers.Rank() {
			continue
		}
		if err := f(rank); err != nil {
			return err
		}
	}
	return nil
}

// shared reports whether every rank combines a share of a value.
func (e *exchange) shared(v *collective.Reduction) bool {
	return len(e.nodes) > 1 && v.Op == collective.Sum && len(v.Result.Bytes) >= sharedFrom
}

// rangeOf returns the range of bytes of a value that a rank combines.
func (e *exchange) rangeOf(v *collective.Reduction, rank int) (from, to int) {
	if !e.shared(v) {
		return 0, len(v.Result.Bytes)
	}
	size := v.Result.DType.Size()
	n := len(v.Result.Bytes) / size
	return rank * n / e.peers.Size() * size, (rank + 1) * n / e.peers.Size() * size
}

// sendParts sends to each rank the parts that it combines.
func (e *exchange) sendParts(ctx context.Context) error {
	return e.others(func(to int) error {
		m := &e.message
		m.begin(e.header(partials))
		for i := range e.values {
			for _, p := range e.values[i].Partials {
				m.mark(!p.Value.IsZero())
			}
		}
		e.eachPart(false, func(v *collective.Reduction, k int) {
			m.keep(v.Partials[k].Value.Bytes)
		})
		m.values()
		e.eachPart(true, func(v *collective.Reduction, k int) {
			a, b := e.rangeOf(v, to)
			m.add(v.Partials[k].Value.Bytes[a:b])
		})
		_, err := e.peers.lend(ctx, to, e.number, m.pieces...)
		return err
	})
}

// eachPart calls f for every present part of this rank. If shared is true, these are the parts
// of values that are divided among the ranks, otherwise the parts of all other values.
func (e *exchange) eachPart(shared bool, f func(v *collective.Reduction, k int)) {
	for i := range e.values {
		v := &e.values[i]
		if e.shared(v) != shared {
			continue
		}
		for k, p := range v.Partials {
			if !p.Value.IsZero() {
				f(v, k)
			}
		}
	}
}

// receiveParts receives all parts of this rank's share and combines them into
// the results.
func (e *exchange) receiveParts(ctx context.Context) error {
	var done []arrival
	defer func() {
		for _, m := range done {
			e.peers.reuse(m)
		}
	}()
	err := e.others(func(from int) error {
		m, err := e.peers.receive(ctx, from, e.number, e.header(partials))
		if err != nil {
			return err
		}
		done = append(done, m)
		if err := e.read(from, &received{m.pieces, headerBytes}); err != nil {
			return fmt.Errorf("rank %d: exchange %d: %w", from, e.sequence, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range e.values {
		e.combine(i)
	}
	return nil
}

// read finds the parts in a message that another rank has sent.
func (e *exchange) read(rank int, r *received) error {
	n := len(e.nodes[rank])
	marks, err := r.marks(len(e.values) * n)
	if err != nil {
		return err
	}
	e.came[rank] = make([]tensor.Tensor, len(marks))
	for _, shared := range []bool{false, true} {
		for i, mark := range marks {
			v := &e.values[i/n]
			if mark == absent || e.shared(v) != shared {
				continue
			}
			a, b := e.rangeOf(v, e.peers.Rank())
			t := v.Result
			if t.Bytes, err = r.take(b - a); err != nil {
				return err
			}
			e.came[rank][i] = t
		}
	}
	return r.end()
}

// nearBytes is the part of a sum, in bytes, that is combined at a time: it stays in the
// nearest cache while several values are added to it.
const nearBytes = 8 << 10

// combine completes this rank's share of a value. The result may overlap one of this rank's
// parts, so each range of the result is written after this range of all parts was read.
func (e *exchange) combine(i int) {
	v := &e.values[i]
	rank := e.peers.Rank()
	a, b := e.rangeOf(v, rank)
	step := nearBytes
	if v.Op != collective.Sum {
		step = b - a
	}
	for from := a; from < b; from += step {
		to := min(from+step, b)
		sum := e.sumBuffer(cut(v.Result, from, to))
		e.assembly.Into(sum, v.Op, func(r, k int) tensor.Tensor {
			if r == rank {
				return cut(v.Partials[k].Value, from, to)
			}
			return cut(e.came[r][i*len(e.nodes[r])+k], from-a, to-a)
		})
		copy(v.Result.Bytes[from:to], sum.Bytes)
	}
}

// sumBuffer returns memory for a sum like t.
func (l *lane) sumBuffer(t tensor.Tensor) tensor.Tensor {
	n := len(t.Bytes)
	if len(l.sum.Bytes) < n {
		l.sum = tensor.New(tensor.U8, max(n, nearBytes))
	}
	t.Bytes = l.sum.Bytes[:n:n]
	return t
}

// shareResults sends this rank's share of the results to all others and
// receives theirs.
func (e *exchange) shareResults(ctx context.Context) error {
	m := &e.message
	m.begin(e.header(results))
	m.values()
	_ = e.eachShared(e.peers.Rank(), func(chunk []byte) error {
		m.add(chunk)
		return nil
	})
	if len(m.pieces) == 1 {
		return nil // all ranks have all results
	}
	lent := make([]bool, len(e.nodes))
	err := e.others(func(to int) (err error) {
		lent[to], err = e.peers.lend(ctx, to, e.number, m.pieces...)
		return err
	})
	if err == nil {
		err = e.others(func(from int) error { return e.takeResults(ctx, from) })
	}
	if err != nil {
		return err
	}
	return e.others(func(by int) error { // the device may overwrite the results when this returns
		if !lent[by] {
			return nil
		}
		m, err := e.peers.receive(ctx, by, e.number, e.header(taken))
		if err == nil {
			e.peers.reuse(m)
		}
		return err
	})
}

// takeResults receives a rank's share of the results.
func (e *exchange) takeResults(ctx context.Context, rank int) error {
	theirs, err := e.peers.receive(ctx, rank, e.number, e.header(results))
	if err != nil {
		return err
	}
	r := received{theirs.pieces, headerBytes}
	err = e.eachShared(rank, func(chunk []byte) error {
		b, err := r.take(len(chunk))
		copy(chunk, b)
		return err
	})
	if err = cmp.Or(err, r.end()); err != nil {
		return fmt.Errorf("rank %d: exchange %d: %w", rank, e.sequence, err)
	}
	if theirs.lent {
		return e.peers.send(ctx, rank, e.number, e.header(taken).append(nil))
	}
	e.peers.reuse(theirs)
	return nil
}

// eachShared calls f for a rank's share of every result that is divided among the ranks.
func (e *exchange) eachShared(rank int, f func(chunk []byte) error) error {
	for i := range e.values {
		v := &e.values[i]
		if !e.shared(v) {
			continue
		}
		a, b := e.rangeOf(v, rank)
		if err := f(v.Result.Bytes[a:b:b]); err != nil {
			return err
		}
	}
	return nil
}
