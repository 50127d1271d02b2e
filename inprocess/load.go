package inprocess

import (
	"cmp"
	"errors"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/predict/answer"
	"github.com/bnctl/bnctl/problem"
)

// Load reads a model and prepares it to predict. source is the path of any model file, or the bytes of
// a template of bnctl, for example from package embed. The caller closes the predictor. The error is a
// *problem.Error for an invalid option, and wraps device.OutOfMemory for a model that does not fit.
func Load[Source string | []byte](source Source, o Options) (*Predictor, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var m *modelfile.Opened
	var err error
	switch s := any(source).(type) {
	case string:
		m, err = modelfile.Open(s, o.File)
	case []byte:
		m, err = modelfile.Parse("template", s, o.File)
	}
	if err != nil {
		return nil, err
	}
	return New(m.Model, o)
}

// New does the same as Load for a model in memory. The predictor copies its state.
func New(m *models.Model, o Options) (*Predictor, error) {
	if m == nil {
		return nil, problem.New("model", "", "a model to predict with is missing", "open one with modelfile.Open")
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Arrays {
		var err error
		if m, err = models.WithArrays(m); err != nil {
			return nil, err
		}
	}
	answers, err := answer.New(m, answer.Options{Top: cmp.Or(o.Top, usualTop)})
	if err != nil {
		return nil, err
	}
	precision, err := o.precision(m)
	if err != nil {
		return nil, err
	}
	program, err := spmd.PredictProgram(m.Graph)
	if err != nil {
		return nil, err
	}
	s := &session{program: program, options: device.Options{Threads: o.Threads, Kernels: o.Kernels,
		Precision: precision}}
	if err := s.open(m.State); err != nil {
		return nil, errors.Join(err, s.close())
	}
	p := &Predictor{answers: answers, session: s, turn: make(chan struct{}, 1), closed: make(chan struct{})}
	described := *m
	described.State = nil // the device has a copy
	p.model, answers.Model = &described, &described
	if err := p.limit(o); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return p, nil
}

// limit sets the number of rows of a batch. It returns an error if the model needs more memory than the
// limit.
func (p *Predictor) limit(o Options) error {
	p.batch = cmp.Or(o.Batch, usualBatch)
	for {
		err := p.session.fits(p.batch, o.Memory)
		if err == nil || o.Batch != 0 || p.batch == 1 {
			p.memory = p.session.memory(p.batch)
			return err
		}
		p.batch /= 2
	}
}
