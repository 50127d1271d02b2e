package inprocess

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict/answer"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// ErrClosed is the error of a call if the predictor is closed before or during the call.
var ErrClosed = errors.New("the predictor is closed")

// Predictor is a model that predicts in this process. Any number of goroutines may use it at a
// time. The calls run one after another.
type Predictor struct {
	model   *models.Model // without state
	answers *answer.Answers
	session *session
	batch   int
	memory  int64
	turn    chan struct{} // holds a value while a batch runs
	closed  chan struct{} // closed by Close
	once    sync.Once
	err     error // error of Close
}

// Inputs returns the inputs of the model, in the order of Run: each with its type for a sample.
func (p *Predictor) Inputs() []models.Input { return p.model.Inputs() }

// Outputs returns the outputs of the model, in the order of the results of Run: each with its name
// and its type for a sample.
func (p *Predictor) Outputs() []models.OutputInfo { return p.model.Outputs() }

// Labels returns the names of the classes; nil if the template does not have any.
func (p *Predictor) Labels() []string { return p.model.Labels }

// Memory returns the bytes that the predictor uses at most: weights, packed weights, the values of a
// batch, and the workspace of every thread. Inputs and outputs belong to the caller and are not counted.
func (p *Predictor) Memory() int64 { return p.memory }

// Run returns the outputs of the model for rows of its inputs. Each input is [N, ...] with the type
// of Inputs, and each output has N rows. The outputs of a row do not depend on the other rows. Run
// keeps no input. The outputs belong to the caller.
//
// If ctx ends before or during a batch, the error is the cause of ctx. The error wraps ErrClosed if
// the predictor is closed, and is a *Panic if a kernel panicked.
func (p *Predictor) Run(ctx context.Context, inputs ...tensor.Tensor) ([]tensor.Tensor, error) {
	x, err := p.input(inputs)
	if err != nil {
		return nil, err
	}
	rows := x.Shape[0]
	if rows <= p.batch {
		return p.runBatch(ctx, x)
	}
	var all []tensor.Tensor
	for from := 0; from < rows; from += p.batch {
		to := min(from+p.batch, rows)
		outputs, err := p.runBatch(ctx, x.Rows(from, to))
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = space(outputs, rows)
		}
		for i, out := range outputs {
			copy(all[i].Rows(from, to).Bytes, out.Bytes)
		}
	}
	return all, nil
}

// space returns new tensors with the types and shapes of outputs, but with another number of rows.
func space(outputs []tensor.Tensor, rows int) (list []tensor.Tensor) {
	for _, out := range outputs {
		list = append(list, tensor.New(out.DType, append([]int{rows}, out.Shape[1:]...)...))
	}
	return list
}

// input checks the inputs of a call, and returns them as the one input of the graph.
func (p *Predictor) input(inputs []tensor.Tensor) (x tensor.Tensor, err error) {
	if p.model.Fields != nil {
		return p.model.Pack(inputs)
	}
	want := p.model.Inputs()[0]
	if len(inputs) != 1 {
		return x, fmt.Errorf("%s; the model has 1: %s", problem.Plural(len(inputs), "input"),
			p.model.DescribeInputs())
	}
	x = inputs[0]
	if len(x.Shape) == 0 || x.Shape[0] < 1 || !slices.Equal(x.Shape[1:], want.Type.Shape) ||
		x.DType != want.Type.DType || len(x.Bytes) != x.Count()*x.DType.Size() {
		return x, problem.Advise("give rows of that type, or load the model with {arrays} for numbers "+
			"that are preprocessed already", "input %s is %v; the model has %s for each row", want.Name, x,
			p.model.DescribeInputs())
	}
	return x, nil
}

// runBatch runs at most p.batch rows when it is the call's turn.
func (p *Predictor) runBatch(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error) {
	if err := p.acquire(ctx); err != nil {
		return nil, err
	}
	defer func() { <-p.turn }()
	outputs, err := p.session.run(ctx, x)
	switch {
	case err == nil:
		return p.model.FileOutputs(outputs)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case p.isClosed():
		return nil, ErrClosed
	}
	return nil, err
}

// acquire waits for the end of the batches of earlier calls.
func (p *Predictor) acquire(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-p.closed:
		return ErrClosed
	case p.turn <- struct{}{}:
	default:
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.closed:
			return ErrClosed
		case p.turn <- struct{}{}:
		}
	}
	if p.isClosed() {
		<-p.turn
		return ErrClosed
	}
	return nil
}

func (p *Predictor) isClosed() bool {
	select {
	case <-p.closed:
		return true
	default:
		return false
	}
}

// Close ends calls in progress and frees the memory. It may be called twice, and at any time.
func (p *Predictor) Close() error {
	p.once.Do(func() {
		close(p.closed)
		p.err = p.session.close()
	})
	return p.err
}
