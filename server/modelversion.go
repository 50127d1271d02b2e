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

// modelVersion is one version of a model with its devices.
type modelVersion struct {
	name     string
	version  int
	file     repository.File
	sha256   string // SHA-256 of the file
	model    *models.Model
	answers  *predict.Answers // the meaning of all outputs
	o        predict.Options
	queue    *batching.Queue
	onDevice bool // the devices compute boxes

	mu      sync.Mutex // guards the fields below
	devices *devices   // nil after the devices were lost; the next batch opens them again
	input   signature  // first of the inputs
	inputs  []signature
	outputs []signature
}

// signature is the metadata of a tensor.
type signature struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"` // -1 first: any number of rows
}

// open opens the model in a file, and devices for it.
func open(ctx context.Context, f repository.File, o *Options, counts *metrics) (*modelVersion, error) {
	m, sum, err := read(f.Path, o.File)
	if err != nil {
		return nil, err
	}
	if faults := sickness(m); len(faults) > 0 && !o.AllowSick {
		return nil, &Sick{f.Path, faults}
	}
	s := &modelVersion{name: f.Name, version: f.Version, file: f, sha256: sum, model: m, o: o.Predict}
	if err := s.describe(); err != nil {
		return nil, err
	}
	s.watchDevices(o, counts)
	s.o.MostBoxes = mostBoxes
	p, err := predict.Open(ctx, m, s.o)
	if err != nil {
		return nil, err
	}
	s.devices, s.onDevice = &devices{Predictor: p}, p.BoxesOnDevices()
	if kernels := s.devices.Terms().Kernels; strings.Contains(kernels, "+") {
		s.devices.Close()
		return nil, problem.New("devices", o.Predict.Fleet.Devices, "they are of the kernel classes "+kernels+
			", and an answer would depend on the device that gives it", "name devices of one class, or set {kernels}")
	}
	in := m.Input()
	s.queue = batching.New(in.DType, in.Shape,
		batching.Options{MaxBatch: o.Predict.Batch, MaxDelay: o.Delay, MaxQueue: o.Queue, Ahead: s.devices.Ahead(),
			Limited: s.runBoxes,
			OnBatch: func(rows int, _ time.Duration) {
				counts.countBatch(s.name, s.version, rows, s.queue.Waiting())
			}}, s.run)
	return s, nil
}

// watchDevices reopens lost devices, and notes when devices are lost and when they are open again.
func (s *modelVersion) watchDevices(o *Options, counts *metrics) {
	s.o.Reopen = true
	s.o.Lost = func(device string, why error) {
		counts.lost.Inc()
		o.note("%s version %d: %s is lost: %v", s.name, s.version, device, why)
	}
	s.o.Back = func(device string) { o.note("%s version %d now uses %s", s.name, s.version, device) }
}

// read returns the model of a file, and the file's SHA-256.
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

// devices is an open predictor of one version. It computes two batches at a time if the devices accept the
// second one while the first is computed.
type devices struct {
	*predict.Predictor
	inFlight int  // number of batches in progress
	retired  bool // no more batches will be started
}

// run computes a batch. It does not use the contexts of requests, because a batch belongs to many requests.
// If some devices are lost, the other devices compute their rows. If all devices are lost and cannot be
// reopened in time, run returns an error, and the next batch gets new devices.
func (s *modelVersion) run(x tensor.Tensor) ([]tensor.Tensor, error) {
	return s.onDevices(func(ctx context.Context, d *devices) ([]tensor.Tensor, error) {
		return d.Predict(ctx, x)
	})
}

// runBoxes computes the boxes of a batch, as run does: see predict.Predictor.PredictBoxes.
func (s *modelVersion) runBoxes(x, limits tensor.Tensor) ([]tensor.Tensor, error) {
	return s.onDevices(func(ctx context.Context, d *devices) ([]tensor.Tensor, error) {
		found, err := d.PredictBoxes(ctx, x, limits)
		return []tensor.Tensor{found}, err
	})
}

// onDevices calls compute with the devices.
func (s *modelVersion) onDevices(compute func(context.Context, *devices) ([]tensor.Tensor, error)) (
	outs []tensor.Tensor, err error) {
	ctx := context.Background()
	d, err := s.acquireDevices(ctx)
	if err != nil {
		return nil, err
	}
	outs, err = compute(ctx, d)
	s.releaseDevices(d, err)
	return outs, err
}

// acquireDevices returns the devices for a batch, and opens new ones if the previous ones were
// lost.
func (s *modelVersion) acquireDevices(ctx context.Context) (*devices, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.devices == nil {
		p, err := predict.Open(ctx, s.model, s.o)
		if err != nil {
			return nil, err
		}
		s.devices = &devices{Predictor: p}
	}
	s.devices.inFlight++
	return s.devices, nil
}

// releaseDevices is called after a batch. After an error no more batches are started on these
// devices. They are closed when no batch on them is in progress.
func (s *modelVersion) releaseDevices(d *devices, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && !d.retired {
		d.retired, s.devices = true, nil
	}
	if d.inFlight--; d.retired && d.inFlight == 0 {
		d.Close() // errors of lost devices do not matter
	}
}

// describe sets the signatures of the model's inputs and outputs.
func (s *modelVersion) describe() (err error) {
	for _, in := range s.model.Inputs() {
		s.inputs = append(s.inputs, signatureOf(in.Name, in.Type.DType, in.Type.Shape))
	}
	s.input = s.inputs[0]
	for _, out := range s.model.Outputs() {
		s.outputs = append(s.outputs, signatureOf(out.Name, out.Type.DType, out.Type.Shape))
	}
	s.answers, err = predict.NewAnswers(s.model, predict.AnswerOptions{Top: 1})
	return err
}

func signatureOf(name string, d tensor.DType, row []int) signature {
	return signature{name, protocol.Datatype(d), append([]int{-1}, row...)}
}

// label returns the version as the protocol writes it.
func (s *modelVersion) label() string { return strconv.Itoa(s.version) }

// close answers the requests in the queue, and closes the devices.
func (s *modelVersion) close() error {
	s.queue.Close()
	if s.devices == nil {
		return nil
	}
	return s.devices.Close()
}
