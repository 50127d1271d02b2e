package fabric

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/internal/awake"
)

// Peers is the ranks of a run: this one, and the others, which are reachable over a fabric.
// All ranks make the same calls of AllGather in the same order. The exchanges of an Uplink
// between two of these calls form a round. If a rank calls the round off (CallOff), the
// exchanges of all ranks that wait in the round return an error, and unfinished exchanges
// are dropped.
type Peers struct {
	fabric   Fabric
	timeout  time.Duration // time after which a silent peer is gone
	round    atomic.Uint64 // number of records so far
	sent     [collective.Lanes]atomic.Int64
	stopping atomic.Bool           // the run will stop
	ended    atomic.Pointer[error] // first error that reported the end of the fabric
	stop     context.CancelFunc
	wait     sync.WaitGroup
}

// New returns the ranks of a fabric. A peer counts as gone if it sends no message for the
// timeout; 0 means 30 seconds. Until Close, every rank sends heartbeats to the others.
func New(f Fabric, timeout time.Duration) *Peers {
	ctx, stop := context.WithCancel(context.Background())
	p := &Peers{fabric: f, timeout: cmp.Or(timeout, 30*time.Second), stop: stop}
	p.wait.Go(func() { p.heartbeat(ctx) })
	return p
}

// Rank is the number of this rank, from 0.
func (p *Peers) Rank() int { return p.fabric.Rank() }

// Size is the number of ranks.
func (p *Peers) Size() int { return p.fabric.Size() }

// Sent returns how many bytes this rank has sent in a lane, without heartbeats.
func (p *Peers) Sent(lane collective.Lane) int64 { return p.sent[lane].Load() }

// Close leaves the fabric.
func (p *Peers) Close() error {
	p.stop()
	p.wait.Wait()
	return p.fabric.Close()
}

// Abort ends all ranks.
func (p *Peers) Abort(cause string) {
	p.fabric.Abort(fmt.Sprintf("rank %d: %s", p.Rank(), cause))
}

// kind is the kind of a message.
type kind uint8

const (
	alive    kind = iota // the sender is alive
	record               // record of an AllGather
	partials             // partial values of an exchange
	results              // results of an exchange: the range that the sender has combined
	callOff              // calls the round off
	taken                // the lent results of an exchange have been read
	direct               // message of Send
)

// headerBytes is the length of a message's header: its kind, three zeros, the number of its
// exchange in the lane, and the round. The length keeps the floats that follow aligned.
const headerBytes = 4 + 4 + 8

// header begins every message.
type header struct {
	kind     kind
	round    uint64
	sequence uint32
}

func (h header) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(h.kind))
	b = binary.LittleEndian.AppendUint32(b, h.sequence)
	return binary.LittleEndian.AppendUint64(b, h.round)
}

func parse(message []byte) (header, error) {
	if len(message) < headerBytes || binary.LittleEndian.Uint32(message) > uint32(direct) {
		return header{}, fmt.Errorf("a message of %d bytes is none of bnctl", len(message))
	}
	return header{kind(message[0]), binary.LittleEndian.Uint64(message[8:]),
		binary.LittleEndian.Uint32(message[4:])}, nil
}

// heartbeat regularly reports to all peers that this rank is alive.
func (p *Peers) heartbeat(ctx context.Context) {
	tick := time.NewTicker(p.every())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		m := header{kind: alive}.append(nil)
		for to := range p.Size() {
			for lane := range collective.Lane(collective.Lanes) {
				if to != p.Rank() && p.fabric.Send(ctx, to, lane, m) != nil {
					return // the next exchange returns the error
				}
			}
		}
	}
}

// send sends a message and counts it.
func (p *Peers) send(ctx context.Context, rank int, lane collective.Lane, pieces ...[]byte) error {
	_, err := p.sendBy(ctx, rank, lane, pieces, func(ctx context.Context) (bool, error) {
		return false, p.fabric.Send(ctx, rank, lane, pieces...)
	})
	return err
}

// lend is like send, but the message may be lent: see Lender.
func (p *Peers) lend(ctx context.Context, rank int, lane collective.Lane, pieces ...[]byte) (
	lent bool, err error) {
	l, ok := p.fabric.(Lender)
	if !ok {
		return false, p.send(ctx, rank, lane, pieces...)
	}
	return p.sendBy(ctx, rank, lane, pieces, func(ctx context.Context) (bool, error) {
		return l.Lend(ctx, rank, lane, pieces...)
	})
}

func (p *Peers) sendBy(ctx context.Context, rank int, lane collective.Lane, pieces [][]byte,
	by func(ctx context.Context) (bool, error)) (lent bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	waiting, stop := awake.WithTimeout(ctx, p.patience())
	defer stop()
	switch lent, err = by(waiting); {
	case err != nil && waiting.Err() != nil && ctx.Err() == nil:
		return false, p.end(p.gone(ctx, rank, lane, p.patience()))
	case errors.Is(err, Ended):
		return false, p.end(err)
	case err != nil:
		return false, fmt.Errorf("rank %d: %w", rank, err)
	}
	for _, b := range pieces {
		p.sent[lane].Add(int64(len(b)))
	}
	return lent, nil
}

// arrival is a message that has arrived.
type arrival struct {
	pieces [][]byte // the first includes the header
	lent   bool     // the memory belongs to the peer
}

// content returns the bytes after the header.
func (a arrival) content() []byte {
	if len(a.pieces) == 1 && !a.lent {
		return a.pieces[0][headerBytes:]
	}
	return slices.Concat(a.pieces...)[headerBytes:]
}

// reuse gives back the memory of a message that is no longer needed.
func (p *Peers) reuse(a arrival) {
	if !a.lent {
		p.fabric.Reuse(a.pieces[0])
	}
}

// receive returns the next message of the current round that has the wanted kind, with its
// header. It drops messages of earlier rounds, and, if a record is wanted, the remaining
// messages of this round. The error wraps collective.Aborted if the peer has called the
// round off.
func (p *Peers) receive(ctx context.Context, rank int, lane collective.Lane, want header) (arrival, error) {
	for {
		h, m, err := p.next(ctx, rank, lane)
		switch {
		case err != nil:
			return arrival{}, err
		case h.kind == alive, h.round < want.round, want.kind == record && h.kind != record:
			p.reuse(m)
			continue
		case h.kind == callOff && h.round == want.round:
			return arrival{}, fmt.Errorf("%w: rank %d: %s", collective.Aborted, rank, m.content())
		case h != want:
			return arrival{}, fmt.Errorf("rank %d sent %+v, want %+v: the ranks do not do the same", rank, h, want)
		}
		return m, nil
	}
}

// next returns the next message of a peer. Only time spent waiting counts as silence, not
// time for which this process was suspended.
func (p *Peers) next(ctx context.Context, rank int, lane collective.Lane) (header, arrival, error) {
	for silent := time.Duration(0); ; {
		wait := max(min(p.patience()/4, time.Second), time.Millisecond)
		m, err := p.within(ctx, rank, lane, wait)
		silent += wait
		switch {
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && silent < p.patience():
			continue
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			return header{}, m, p.end(p.gone(ctx, rank, lane, silent))
		case errors.Is(err, Ended):
			return header{}, m, p.end(err)
		case err != nil:
			return header{}, m, fmt.Errorf("rank %d: %w", rank, err)
		}
		h, err := parse(m.pieces[0])
		if err != nil {
			return h, m, fmt.Errorf("rank %d: %w", rank, err)
		}
		return h, m, nil
	}
}

// gone returns an error that names the missing ranks. They are the rank that was waited for, or others
// that were silent for the same time: a rank may be blocked by another one that is gone.
func (p *Peers) gone(ctx context.Context, rank int, lane collective.Lane, silent time.Duration) error {
	text, it := fmt.Sprintf("rank %d is gone", rank), "it"
	for r := range p.Size() {
		if r == p.Rank() || r == rank {
			continue
		}
		if _, err := p.within(ctx, r, lane, time.Millisecond); errors.Is(err, context.DeadlineExceeded) {
			text, it = fmt.Sprintf("%s, or rank %d", text, r), "them"
		}
	}
	return fmt.Errorf("%s: nothing was heard of %s for %v: %w", text, it, silent.Round(time.Second/10), Ended)
}

func (p *Peers) within(ctx context.Context, rank int, lane collective.Lane, d time.Duration) (
	arrival, error) {
	waiting, stop := context.WithTimeout(ctx, d)
	defer stop()
	if l, ok := p.fabric.(Lender); ok {
		pieces, lent, err := l.Borrow(waiting, rank, lane)
		return arrival{pieces, lent}, err
	}
	m, err := p.fabric.Receive(waiting, rank, lane)
	return arrival{pieces: [][]byte{m}}, err
}

// end keeps the first error of a fabric that has ended.
func (p *Peers) end(err error) error {
	p.ended.CompareAndSwap(nil, &err)
	return err
}

// Ended returns why exchanges are no longer possible, or nil if that is not known.
func (p *Peers) Ended() error {
	if err := p.ended.Load(); err != nil {
		return *err
	}
	return nil
}

// every is the time between two heartbeats.
func (p *Peers) every() time.Duration {
	return max(min(p.timeout/4, time.Second+time.Duration(p.Size())*10*time.Millisecond), time.Millisecond)
}

// patience is the time that a peer may be silent before it counts as gone.
func (p *Peers) patience() time.Duration {
	if p.stopping.Load() {
		return min(p.timeout, 5*p.every())
	}
	return p.timeout
}

// ShortenTimeout lets a peer be silent for only a few seconds from now on. Call it if the run
// is about to stop, for example when the launcher has signalled that a rank is gone.
func (p *Peers) ShortenTimeout() { p.stopping.Store(true) }

// AllGather sends this rank's record to all ranks, and begins the next round. It
// returns the records of all ranks, by rank. No exchange may be in progress.
func (p *Peers) AllGather(ctx context.Context, mine []byte) ([][]byte, error) {
	h := header{kind: record, round: p.round.Load()}
	all := make([][]byte, p.Size())
	all[p.Rank()] = mine
	begin := h.append(nil)
	for to := range all {
		if to == p.Rank() {
			continue
		}
		if err := p.send(ctx, to, collective.Moments, begin, mine); err != nil {
			return nil, err
		}
	}
	for from := range all {
		if from == p.Rank() {
			continue
		}
		m, err := p.receive(ctx, from, collective.Moments, h)
		if err != nil {
			return nil, err
		}
		all[from] = m.content()
	}
	p.round.Add(1)
	return all, nil
}

// Broadcast returns the data of rank 0 on all ranks, including rank 0. It is an AllGather.
func (p *Peers) Broadcast(ctx context.Context, mine []byte) ([]byte, error) {
	if p.Rank() > 0 {
		mine = nil
	}
	all, err := p.AllGather(ctx, mine)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Together calls f, leaves the fabric, and returns the error of f. An error also ends all
// ranks; the second function returns the text of the cause. If the error wraps Ended or
// Agreed, the other ranks know of it already, and Together does not end them.
func (p *Peers) Together(f func() error, say func(error) string) error {
	err := f()
	if err != nil && !errors.Is(err, Ended) && !errors.Is(err, Agreed) {
		p.Abort(say(err))
	}
	return errors.Join(err, p.Close())
}

// Agreed is wrapped by the errors of ranks that stop because all ranks have agreed to stop.
var Agreed = errors.New("the ranks have agreed to stop")

// CallOff ends the round on all ranks that wait for this one in an exchange. This rank must
// not have an exchange in progress. The next call must be AllGather.
func (p *Peers) CallOff(ctx context.Context, cause string) error {
	h := header{kind: callOff, round: p.round.Load()}
	begin := h.append(nil)
	for to := range p.Size() {
		for lane := range collective.Lane(collective.Lanes) {
			if to == p.Rank() {
				continue
			}
			if err := p.send(ctx, to, lane, begin, []byte(cause)); err != nil {
				return err
			}
		}
	}
	return nil
}
