package keras

import (
	"bytes"
	"fmt"
	"io"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/keras/internal/hdf5"
	"github.com/bnctl/bnctl/problem"
)

// Members of a .keras archive.
const (
	memberConfig   = "config.json"
	memberMeta     = "metadata.json"
	memberWeights  = "model.weights.h5"
	memberArchived = "model.weights.npz"
)

// Sniff reports whether a file that starts with head (512 bytes will do) may
// be one of Keras: an HDF5 file, or an archive whose first member is one of a
// .keras archive's.
func Sniff(head []byte) bool {
	if hdf5.Is(head) {
		return true
	}
	if len(head) < 30 || !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return false
	}
	for _, name := range []string{memberConfig, memberMeta, memberWeights, memberArchived} {
		if bytes.HasPrefix(head[30:], []byte(name)) {
			return true
		}
	}
	return false
}

// Options say how a file is read.
type Options struct {
	// Description describes the model of a file of weights alone, as
	// save_weights writes it: what to_json returns, or the config.json of an
	// archive. A file that describes its model itself is an error then.
	Description []byte
	// Input is the shape of one sample where the file leaves lengths open:
	// (C, H, W), or in the file's order.
	Input []int
	// TensorsOnly leaves out the model, and with it reading all weights.
	TensorsOnly bool
}

// Read opens a file that Keras has written. The result has a Model if one is
// described, or NoModel if what is described is not supported, and Tensors, in
// Keras's own order of axes, in any case. Close it: tensors are read from it.
func Read(path string, o Options) (*foreign.File, error) {
	return foreign.Open(path, func(src io.ReaderAt, size int64) (*foreign.File, error) {
		return ReadFrom(src, size, o)
	})
}

// errDescribed refuses a second description of a model.
var errDescribed = problem.Failure("", "the file describes its model itself",
	"leave the description in JSON out")

// ReadFrom reads from the size bytes of src, which tensors are read from afterwards too.
func ReadFrom(src io.ReaderAt, size int64, o Options) (*foreign.File, error) {
	head := make([]byte, min(size, 8))
	if _, err := src.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case hdf5.Is(head):
		return readH5(src, size, o)
	case bytes.HasPrefix(head, []byte("PK")):
		if o.Description != nil {
			return nil, errDescribed
		}
		return readArchive(src, size, o)
	}
	return nil, fmt.Errorf("not a file of Keras: neither HDF5 nor a .keras archive")
}
