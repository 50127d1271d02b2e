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

// Sniff reports whether a file that starts with head (512 bytes are enough) may be a Keras
// file: an HDF5 file, or a zip archive with a first member that is named like a member
// of .keras archives.
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

// Options are the settings for reading a file.
type Options struct {
	// Description describes the model of a file of weights alone, as written by
	// save_weights: the result of to_json, or the config.json of an archive. It is an error
	// for a file that contains its model's description.
	Description []byte
	// Input is the shape of one sample if the file leaves lengths open: (C, H,
	// W), or in the file's order.
	Input []int
	// TensorsOnly leaves out the model, so that no weights are read.
	TensorsOnly bool
}

// Read opens a file written by Keras. The result has a Model if the file describes one, or
// NoModel if that model is not supported. It always has Tensors, in Keras's order of axes;
// they are read from the file on demand: close the result afterwards.
func Read(path string, o Options) (*foreign.File, error) {
	return foreign.Open(path, func(src io.ReaderAt, size int64) (*foreign.File, error) {
		return ReadFrom(src, size, o)
	})
}

// errDescribed rejects a second description of a model.
var errDescribed = problem.Failure("", "the file describes its model itself",
	"leave the description in JSON out")

// ReadFrom is like Read for size bytes of src. Tensors are read from src later, on demand.
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
