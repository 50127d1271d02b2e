package keras

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/keras/internal/hdf5"
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

// Read opens a file that Keras has written. The result has a Model if the file
// describes one, or NoModel if what it describes is not supported, and Tensors,
// in Keras's own order of axes, in any case.
func Read(path string) (*foreign.File, error) { return ReadWith(path, nil) }

// ReadWith opens a file of weights alone, as save_weights writes it, with the
// description of the model from elsewhere: what to_json returns, or the
// config.json of an archive. A file that describes its model itself is an error then.
func ReadWith(path string, description []byte) (*foreign.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := ReadFrom(f, info.Size(), description)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// errDescribed refuses a second description of a model.
var errDescribed = errors.New("the file describes its model itself: leave the description in JSON out")

// ReadFrom reads from the size bytes of src, which is not needed afterwards.
// description is nil, or as for ReadWith.
func ReadFrom(src io.ReaderAt, size int64, description []byte) (*foreign.File, error) {
	head := make([]byte, min(size, 8))
	if _, err := src.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case hdf5.Is(head):
		b := make([]byte, size)
		if _, err := io.ReadFull(io.NewSectionReader(src, 0, size), b); err != nil {
			return nil, err
		}
		return readH5(b, description)
	case bytes.HasPrefix(head, []byte("PK")):
		if description != nil {
			return nil, errDescribed
		}
		return readArchive(src, size)
	}
	return nil, fmt.Errorf("not a file of Keras: neither HDF5 nor a .keras archive")
}
