package server

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/server/internal/batching"
	"github.com/bnctl/bnctl/server/internal/protocol"
	"github.com/bnctl/bnctl/server/internal/repository"
	"github.com/bnctl/bnctl/tensor"
)

// served is one version of a model, on devices.
type served struct {
	name    string
	version int
	file    repository.File
	sha256  string // of the file
	model   *models.Model
	o       predict.Options
	queue   *batching.Queue

	mu      sync.Mutex // of what follows
	devices *devices   // nil: they were lost, and are opened for the next batch
	input   signature
	outputs []signature
}

// signature is a tensor as metadata tell it.
type signature struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"` // -1 first: any number of rows
}

// open reads the model of a file and opens devices for it.
func open(ctx context.Context, f repository.File, o *Options, counts *metrics) (*served, error) {
	m, sum, err := read(f.Path, o.File)
	if err != nil {
		return nil, err
	}
	if faults := sickness(m); len(faults) > 0 && !o.AllowSick {
		return nil, &Sick{f.Path, faults}
	}
	s := &served{name: f.Name, version: f.Version, file: f, sha256: sum, model: m, o: o.Predict}
	s.describe()
	s.watchDevices(o, counts)
	p, err := predict.Open(ctx, m, s.o)
	if err != nil {
		return nil, err
	}
	s.devices = &devices{Predictor: p}
	if kernels := s.devices.Terms().Kernels; strings.Contains(kernels, "+") {
		s.devices.Close()
		return nil, problem.New("devices", o.Predict.Fleet.Devices, "they are of the kernel classes "+kernels+
			", and an answer would depend on the device that gives it", "name devices of one class, or say {kernels}")
	}
	in := m.Input()
	s.queue = batching.New(in.DType, in.Shape,
		batching.Options{MaxBatch: o.Predict.Batch, MaxDelay: o.Delay, MaxQueue: o.Queue, Ahead: s.devices.Ahead(),
			Ran: func(rows int, _ time.Duration) { counts.ran(s.name, s.version, rows) }}, s.run)
	return s, nil
}

// watchDevices has lost devices opened again, and tells of them.
func (s *served) watchDevices(o *Options, counts *metrics) {
	s.o.Reopen = true
	s.o.Lost = func(device string, why error) {
		counts.lost.Inc()
		o.note("%s version %d: %s is lost: %v", s.name, s.version, device, why)
	}
	s.o.Back = func(device string) { o.note("%s version %d: %s is back", s.name, s.version, device) }
}

// read returns the model of a file and the SHA-256 of that.
func read(path string, o modelfile.Options) (*models.Model, string, error) {
	before, err := modelfile.Digest(path)
	if err != nil {
		return nil, "", err
	}
	m, err := modelfile.Open(path, o)
	if err != nil {
		return nil, "", err
	}
	after, err := modelfile.Digest(path)
	if err == nil && after != before {
		err = fmt.Errorf("%s was changed while it was read", path)
	}
	return m.Model, before, err
}

// devices compute batches; two at a time, if they take one ahead.
type devices struct {
	*predict.Predictor
	batches int  // under way
	over    bool // no more will come
}

// run computes a batch. It is not called off: it belongs to many requests. A
// device that is lost meanwhile takes nothing with it; when all are, and none
// comes back in time, the next batch has new ones.
func (s *served) run(x tensor.Tensor) (outs []tensor.Tensor, err error) {
	ctx := context.Background()
	d, err := s.take(ctx)
	if err != nil {
		return nil, err
	}
	outs, err = d.Predict(ctx, x)
	s.giveBack(d, err)
	return outs, err
}

// take returns the devices for a batch, new ones if those before were lost.
func (s *served) take(ctx context.Context) (*devices, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.devices == nil {
		p, err := predict.Open(ctx, s.model, s.o)
		if err != nil {
			return nil, err
		}
		s.devices = &devices{Predictor: p}
	}
	s.devices.batches++
	return s.devices, nil
}

// giveBack is after a batch. After an error there are no more on these devices,
// which are closed with the last.
func (s *served) giveBack(d *devices, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && !d.over {
		d.over, s.devices = true, nil
	}
	if d.batches--; d.over && d.batches == 0 {
		d.Close() // what they say about it is of no use
	}
}

// describe notes what the model takes and gives.
func (s *served) describe() {
	f := s.model.Graph.Main
	in := f.Values[f.Inputs[0]]
	s.input = signatureOf(in.Name, in.Type.DType, in.Type.Shape)
	for _, out := range f.Outputs {
		t := f.Values[out.Value].Type
		s.outputs = append(s.outputs, signatureOf(out.Name, t.DType, t.Shape))
	}
}

func signatureOf(name string, d tensor.DType, row []int) signature {
	return signature{name, protocol.Datatype(d), append([]int{-1}, row...)}
}

// label is the version as the protocol writes it.
func (s *served) label() string { return strconv.Itoa(s.version) }

// close answers what waits, and gives the devices back.
func (s *served) close() error {
	s.queue.Close()
	if s.devices == nil {
		return nil
	}
	return s.devices.Close()
}
