package server

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/server/batching"
	"github.com/bnctl/bnctl/server/protocol"
	"github.com/bnctl/bnctl/tensor"
)

// served is one version of a model, on devices.
type served struct {
	name    string
	version int
	sha256  string // of its file
	model   *models.Model
	devices *predict.Predictor
	queue   *batching.Queue
	input   signature
	outputs []signature
}

// signature is a tensor as metadata tell it.
type signature struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"` // -1 first: any number of rows
}

// open reads the model at path and opens devices for it.
func open(ctx context.Context, name string, version int, path string, o *Options) (*served, error) {
	m, sum, err := read(path, o.File)
	if err != nil {
		return nil, err
	}
	s := &served{name: name, version: version, sha256: sum, model: m}
	s.describe()
	if s.devices, err = predict.Open(ctx, m, o.Predict); err != nil {
		return nil, err
	}
	if kernels := s.devices.Terms().Kernels; strings.Contains(kernels, "+") {
		s.devices.Close()
		return nil, problem.New("devices", o.Predict.Fleet.Devices, "they are of the kernel classes "+kernels+
			", and an answer would depend on the device that gives it", "name devices of one class, or say {kernels}")
	}
	in := m.Input()
	s.queue = batching.New(in.DType, in.Shape,
		batching.Options{MaxBatch: o.Predict.Batch, MaxDelay: o.Delay, MaxQueue: o.Queue}, s.run)
	return s, nil
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

// run computes a batch. It is not called off: it belongs to many requests.
func (s *served) run(x tensor.Tensor) ([]tensor.Tensor, error) {
	return s.devices.Predict(context.Background(), x)
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
	return s.devices.Close()
}

// nameOf returns the name under which a file is served.
func nameOf(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}
