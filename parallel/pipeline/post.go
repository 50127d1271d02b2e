package pipeline

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// A message is one value of one replica, or of one wave of a prediction. The number of
// messages from rank to rank follows from the programs, so no message marks the end:
//
//	| bytes of the name | number | name, padded to 8 | value |

// post carries the values of one call between ranks.
type post struct {
	ranks  *stageRanks
	routes *routes
	stop   context.CancelFunc
	queues map[int]chan parcel // queue of each rank, with capacity for all parcels
	wait   sync.WaitGroup
}

// parcel is a value in transit; number is the number of the replica or wave.
type parcel struct {
	name   string
	number int
	value  []byte
}

// openPost begins the transfers of a call. Each value in w is sent, or received, the given number of
// times. arrived is called with each received value, and failed if an error ends the transfers.
func (r *stageRanks) openPost(ctx context.Context, w *routes, times int, arrived func(parcel) error,
	failed func(error)) *post {
	ctx, stop := context.WithCancel(ctx)
	p := &post{ranks: r, routes: w, stop: stop, queues: map[int]chan parcel{}}
	begin := func(f func() error) {
		p.wait.Go(func() {
			if err := f(); err != nil && ctx.Err() == nil {
				failed(&elsewhere{err})
			}
		})
	}
	for to, names := range w.sent {
		q := make(chan parcel, names*times)
		p.queues[to] = q
		begin(func() error { return p.sends(ctx, to, q) })
	}
	for from, names := range w.received {
		begin(func() error { return p.receives(ctx, from, names*times, arrived) })
	}
	return p
}

// sends sends the parcels of a queue to a rank.
func (p *post) sends(ctx context.Context, rank int, q chan parcel) error {
	for number := range cap(q) {
		select {
		case m := <-q:
			if err := p.ranks.peers.Send(ctx, rank, uint32(number), m.head(), m.value); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// receives receives the parcels of a rank.
func (p *post) receives(ctx context.Context, rank, messages int, arrived func(parcel) error) error {
	for number := range messages {
		b, err := p.ranks.peers.Receive(ctx, rank, uint32(number))
		if err != nil {
			return err
		}
		m, err := parcelOf(b)
		if err == nil {
			err = arrived(m)
		}
		if err != nil {
			return &step.RankError{Rank: rank, Text: err.Error()}
		}
	}
	return nil
}

// give sends a value to all ranks that read it. The value must not be changed.
func (p *post) give(name string, number int, t tensor.Tensor) {
	for _, to := range p.routes.readers[name] {
		p.queues[to] <- parcel{name, number, t.Bytes}
	}
}

// end waits until all parcels are sent and received; after an error it abandons the rest.
func (p *post) end(failed bool) {
	if failed {
		p.stop()
	}
	p.wait.Wait()
	p.stop()
}

func (m parcel) head() []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(m.name)))
	b = binary.LittleEndian.AppendUint32(b, uint32(m.number))
	b = append(b, m.name...)
	return append(b, make([]byte, -len(m.name)&7)...)
}

// parcelOf decodes a message.
func parcelOf(b []byte) (m parcel, err error) {
	if len(b) < 8 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-8) {
		return m, fmt.Errorf("it has sent %d bytes that are no value", len(b))
	}
	n := int(binary.LittleEndian.Uint32(b))
	end := min(8+(n+7)&^7, len(b))
	return parcel{string(b[8 : 8+n]), int(binary.LittleEndian.Uint32(b[4:])), b[end:]}, nil
}

// tensor returns the parcel as a value with that number of rows.
func (m parcel) tensor(types map[string]graph.Type, rows int) (tensor.Tensor, error) {
	t, ok := types[m.name]
	if !ok {
		return tensor.Tensor{}, fmt.Errorf("it has sent %s, which nothing here reads", m.name)
	}
	v, err := tensor.FromBytes(t.DType, t.Sized(rows, 1), m.value)
	if err != nil {
		err = fmt.Errorf("it has sent %s of %d bytes for %d rows: %w", m.name, len(m.value), rows, err)
	}
	return v, err
}

// letters holds the values from other ranks for a prediction until the stages read them.
type letters struct {
	post    *post
	mu      sync.Mutex
	changed *sync.Cond
	values  map[crossing]tensor.Tensor
	err     error
	forget  func() bool
}

// openLetters begins a prediction of that many waves; rowsOf returns the rows of a wave.
func (r *stageRanks) openLetters(ctx context.Context, w *routes, waves int,
	rowsOf func(wave int) int) *letters {
	l := &letters{values: map[crossing]tensor.Tensor{}}
	l.changed = sync.NewCond(&l.mu)
	l.post = r.openPost(ctx, w, waves, func(m parcel) error {
		if m.number >= waves {
			return fmt.Errorf("it has sent wave %d of %d", m.number, waves)
		}
		t, err := m.tensor(w.types, rowsOf(m.number))
		if err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.values[crossing{m.name, m.number}] = t
		l.changed.Broadcast()
		return nil
	}, l.fail)
	l.forget = context.AfterFunc(ctx, func() { l.fail(context.Cause(ctx)) })
	return l
}

// close ends the exchange of values and returns its error, if it has failed.
func (l *letters) close(failed bool) error {
	l.forget()
	l.post.end(failed)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *letters) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
	l.changed.Broadcast()
}

// take waits for a value of a wave and removes it.
func (l *letters) take(name string, wave int) (tensor.Tensor, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := crossing{name, wave}
	for {
		t, ok := l.values[c]
		if ok || l.err != nil {
			delete(l.values, c)
			return t, l.err
		}
		l.changed.Wait()
	}
}
