package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// Predictions flow through the stages in waves, so that all stages are busy:
//
//	stage 1   wave 1 | wave 2 | wave 3
//	stage 2            wave 1 | wave 2 | wave 3
//
// The columns of a stage share the rows of a wave, and the stage recovers by
// itself when it loses a column.

// wave is a group of rows on the way through the stages.
type wave struct {
	number int
	far    *letters                 // values from other ranks; nil without ranks
	values map[string]tensor.Tensor // outputs of stages that later stages will read, by name
	unread map[string]int           // number of readers left
	err    error
}

// Predict runs graph.Predict on rows of x and returns its outputs in order. Without peers
// several goroutines may call it at once.
func (p *Predictor) Predict(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error) {
	if p.ranks == nil {
		return p.stream(ctx, x)
	}
	for {
		outs, err := p.stream(ctx, x)
		yields := p.named(outs)
		retry, err := p.ranks.failed(ctx, err)
		mine := stageReport{Of: fmt.Sprintf("predict %d rows", x.Shape[0]), Retry: retry}
		all, err := p.ranks.agree(ctx, mine, err, yields)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(r stageReport) bool { return r.Retry }) {
			return p.inOrder(yields), nil
		}
	}
}

// stream predicts with the stages of this process. With several ranks it returns the outputs of
// these stages only.
func (p *Predictor) stream(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	var far *letters
	if rows := x.Shape[0]; p.ranks != nil {
		far = p.ranks.openLetters(ctx, p.routes, (rows+p.rows-1)/p.rows, func(wave int) int {
			return min(p.rows, rows-wave*p.rows)
		})
	}
	first := make(chan *wave)
	all.Go(func() {
		defer close(first)
		for from := 0; from < x.Shape[0]; {
			to := min(from+p.rows, x.Shape[0])
			w := &wave{number: from / p.rows, far: far, unread: map[string]int{},
				values: map[string]tensor.Tensor{p.external.Name: x.Rows(from, to)}}
			for name, n := range p.uses {
				w.unread[name] = n
			}
			first <- w
			from = to
		}
	})
	last := first
	for s := range p.stages {
		if p.inputs[s] == nil {
			continue
		}
		in, out := last, make(chan *wave)
		all.Go(func() {
			defer close(out)
			for w := range in {
				if w.err == nil {
					w.err = p.run(ctx, s, w)
				}
				out <- w
			}
		})
		last = out
	}
	var chunks [][]tensor.Tensor
	var err error
	for w := range last {
		if err == nil && w.err != nil {
			err = w.err
			stop() // ends the waves that follow
		}
		chunks = append(chunks, w.outputs(p.made()))
	}
	all.Wait()
	if far != nil {
		err = cmp.Or(err, far.close(err != nil))
	}
	if err != nil {
		return nil, err
	}
	return step.JoinRows(chunks), nil
}

// run runs stage s on a wave.
func (p *Predictor) run(ctx context.Context, s int, w *wave) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	var in []tensor.Tensor
	for _, name := range p.inputs[s] {
		if _, here := w.values[name]; !here && w.far != nil {
			t, err := w.far.take(name, w.number)
			if err != nil {
				return err
			}
			w.values[name] = t
		}
		in = append(in, w.values[name])
		if w.unread[name]--; w.unread[name] == 0 {
			delete(w.values, name)
		}
	}
	outs, err := p.predict(ctx, s, in)
	if err != nil {
		return fmt.Errorf("stage %d: %w", p.first+s+1, err)
	}
	for i, name := range p.yields[s] {
		if w.unread[name] > 0 {
			w.values[name] = outs[i]
		}
		if w.far != nil {
			w.far.post.give(name, w.number, outs[i])
		}
	}
	return nil
}

// predict runs stage s. If all of its devices are lost, its layers move to another stage.
func (p *Predictor) predict(ctx context.Context, s int, inputs []tensor.Tensor) ([]tensor.Tensor, error) {
	for {
		d, outs, err := p.predictOn(ctx, s, inputs)
		if !errors.Is(err, step.NoDevices) {
			return outs, err
		}
		if moved := p.move(ctx, s, d); moved != nil {
			return nil, errors.Join(err, moved)
		}
	}
}

// predictOn does the same as predict, and also returns the stage that it used.
func (p *Predictor) predictOn(ctx context.Context, s int, inputs []tensor.Tensor) (
	Stage, []tensor.Tensor, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if turns := p.shared[s]; turns != nil {
		turns.Lock()
		defer turns.Unlock()
	}
	p.began.Do(func() { p.from = time.Now() })
	outs, err := p.stages[s].Predict(ctx, inputs)
	if err == nil {
		p.until.Store(int64(time.Since(p.from)))
	}
	return p.stages[s], outs, err
}

// outputs returns the outputs of the whole function.
func (w *wave) outputs(names []string) (list []tensor.Tensor) {
	for _, name := range names {
		list = append(list, w.values[name])
	}
	return list
}
