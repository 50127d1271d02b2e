package parallel

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/tensor"
)

// inFlight counts the predictions in progress. The group does not change while there are any.
type inFlight struct {
	mu    sync.Mutex // locked while a prediction begins or ends, and while the group changes
	count int
	ended *sync.Cond // signals that the last prediction has ended
	// believed means that the referee has found outputs that are not finite, too, so the model itself
	// causes them.
	believed atomic.Bool
}

func newInFlight() *inFlight {
	u := &inFlight{}
	u.ended = sync.NewCond(&u.mu)
	return u
}

// over waits until all predictions have ended. The caller holds u.mu, which is released
// while over waits.
func (u *inFlight) over() {
	for u.count > 0 {
		u.ended.Wait()
	}
}

// again is the error of a prediction that must be repeated because the group has recovered.
var again = errors.New("a device was lost")

// prediction is a run of some rows, divided among all members.
type prediction struct {
	function string
	number   uint64
	last     bool              // the rows are the last ones of Config.Samples
	earlier  int               // number of predictions in progress when it began
	end      int               // index of the first row after this prediction
	inputs   [][]tensor.Tensor // inputs of each member
	outs     []device.Outcome  // outcomes of the members that have finished
}

// run runs the rows of a member.
func (p *prediction) run(ctx context.Context, rank int, m *member) (err error) {
	in := p.inputs[rank]
	step := device.Step{Function: p.function, Number: p.number, Rows: []int{in[0].Shape[0]}, Last: p.last,
		Inputs: in}
	p.outs[rank], err = m.exe.Run(ctx, step)
	return err
}

// rowsOfAll returns the rows [from, to) of every input.
func rowsOfAll(inputs []tensor.Tensor, from, to int) []tensor.Tensor {
	rows := make([]tensor.Tensor, len(inputs))
	for i, x := range inputs {
		rows[i] = x.Rows(from, to)
	}
	return rows
}
