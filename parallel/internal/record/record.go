// Package record records the exchanges of a step, and compares the exchanges of a repetition with the record.
//
//	Recorder     the values that devices sent for some nodes of the canonical tree, and all results
//	Repetition   returns the recorded results to a device that repeats these nodes, and compares its values
//
// An audit of package parallel uses it to find devices with wrong results.
package record

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/bnctl/bnctl/device/collective"
)

// Recorder records the exchanges of a step that is audited.
type Recorder struct {
	mu    sync.Mutex
	nodes []collective.Node // nodes to be repeated; nil: nothing is recorded
	all   map[exchangeKey]*recorded
}

// exchangeKey identifies an exchange of a run.
type exchangeKey struct {
	lane     collective.Lane
	sequence uint64
}

// recorded is the record of an exchange: the bytes of each value by node, and of each result.
type recorded struct {
	partials map[collective.Node][][]byte
	results  [][]byte
}

// Begin starts to record the values of nodes, which are audited. nil: nothing is recorded.
func (r *Recorder) Begin(nodes []collective.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nodes, r.all = nodes, map[exchangeKey]*recorded{}
}

// exchange returns the record of an exchange, or nil if nothing is recorded.
func (r *Recorder) exchange(tag collective.Tag) *recorded {
	if r.nodes == nil {
		return nil
	}
	key := exchangeKey{tag.Lane, tag.Sequence}
	if r.all[key] == nil {
		r.all[key] = &recorded{partials: map[collective.Node][][]byte{}}
	}
	return r.all[key]
}

// recordPartials copies the values of the nodes that are audited.
func (r *Recorder) recordPartials(tag collective.Tag, values []collective.Reduction) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.exchange(tag)
	if x == nil {
		return
	}
	for _, v := range values {
		for _, p := range v.Partials {
			if slices.Contains(r.nodes, p.Node) {
				x.partials[p.Node] = append(x.partials[p.Node], bytes.Clone(p.Value.Bytes))
			}
		}
	}
}

// recordResults copies the results of an exchange, unless the record has them already.
func (r *Recorder) recordResults(tag collective.Tag, values []collective.Reduction) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.exchange(tag)
	if x == nil || x.results != nil {
		return
	}
	for _, v := range values {
		x.results = append(x.results, bytes.Clone(v.Result.Bytes))
	}
}

// Nodes returns the nodes that are audited.
func (r *Recorder) Nodes() []collective.Node { return r.nodes }

// Record returns an Exchanger that records the values of x.
func (r *Recorder) Record(x collective.Exchanger) collective.Exchanger { return recording{x, r} }

// Repeat returns an Exchanger for a repetition of the recorded step.
func (r *Recorder) Repeat() *Repetition { return &Repetition{recorder: r} }

// recording is an Exchanger that records the values.
type recording struct {
	collective.Exchanger
	recorder *Recorder
}

// Start implements collective.Exchanger.
func (x recording) Start(ctx context.Context, tag collective.Tag,
	values []collective.Reduction) func() error {
	x.recorder.recordPartials(tag, values)
	wait := x.Exchanger.Start(ctx, tag, values)
	return func() error {
		err := wait()
		if err == nil {
			x.recorder.recordResults(tag, values)
		}
		return err
	}
}

// Repetition is an Exchanger that compares values with the record, and returns the recorded results.
type Repetition struct {
	recorder *Recorder
	mu       sync.Mutex
	differs  bool
}

// Start implements collective.Exchanger.
func (x *Repetition) Start(_ context.Context, tag collective.Tag,
	values []collective.Reduction) func() error {
	x.recorder.mu.Lock()
	defer x.recorder.mu.Unlock()
	was := x.recorder.exchange(tag)
	if was == nil || len(was.results) != len(values) {
		return func() error { return fmt.Errorf("exchange %s was not recorded", tag.Name) }
	}
	for i, v := range values {
		for _, p := range v.Partials {
			if of := was.partials[p.Node]; i >= len(of) || !bytes.Equal(of[i], p.Value.Bytes) {
				x.setDiffers()
			}
		}
		copy(v.Result.Bytes, was.results[i])
	}
	return func() error { return nil }
}

func (x *Repetition) setDiffers() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.differs = true
}

// Differs reports whether a value was different from the record.
func (x *Repetition) Differs() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.differs
}
