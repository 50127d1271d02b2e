package decode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// External reads tensors from other files in the folder of the model. Paths must not lead out
// of the folder, and links are not followed. The total size of the tensors must not exceed the
// size of their files.
type External struct {
	Dir    string          // "" if the model is not from a file
	seen   map[string]bool // opened files
	size   int64           // total size of these files
	Loaded int64           // number of bytes read
}

// Find finds a tensor of the given number of bytes in external data, and returns a function that reads it.
func (e *External) Find(p *onnxpb.TensorProto, want int) (read func(dst []byte) error, err error) {
	location, offset, length, err := dataLocation(p)
	if err != nil {
		return nil, err
	}
	if length >= 0 && length != int64(want) {
		return nil, fmt.Errorf("%d bytes of external data, want %d", length, want)
	}
	f, size, err := e.Open(location)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if offset > size || int64(want) > size-offset {
		return nil, fmt.Errorf("%d bytes at offset %d of %q end beyond its %d bytes", want, offset, location, size)
	}
	if err := e.account(location, size, int64(want)); err != nil {
		return nil, err
	}
	return func(dst []byte) error {
		f, _, err := e.Open(location)
		if err != nil {
			return err
		}
		defer f.Close()
		return foreign.ReadAt(f, dst, offset)
	}, nil
}

// account counts n bytes of a file of size bytes.
func (e *External) account(location string, size, n int64) error {
	if e.seen == nil {
		e.seen = map[string]bool{}
	}
	if path := filepath.Clean(location); !e.seen[path] {
		e.seen[path] = true
		e.size += size
	}
	if e.Loaded += n; e.Loaded > e.size+foreign.Slack {
		return fmt.Errorf("the tensors up to here take %d bytes of external data that has %d", e.Loaded, e.size)
	}
	return nil
}

// dataLocation reads the position of the data. length is -1 if it is not given.
func dataLocation(p *onnxpb.TensorProto) (location string, offset, length int64, err error) {
	length = -1
	for _, e := range p.ExternalData {
		switch e.Key {
		case "location":
			location = e.Value
		case "offset":
			offset, err = strconv.ParseInt(e.Value, 10, 64)
		case "length":
			length, err = strconv.ParseInt(e.Value, 10, 64)
		}
		if err != nil || offset < 0 {
			return "", 0, 0, fmt.Errorf("external data: %s is %.40q", e.Key, e.Value)
		}
	}
	if location == "" {
		return "", 0, 0, fmt.Errorf("external data without a location")
	}
	return location, offset, length, nil
}

// Open opens a file in the folder of the model.
func (e *External) Open(location string) (*os.File, int64, error) {
	if e == nil || e.Dir == "" {
		return nil, 0, fmt.Errorf("external data %.80q of a model that lies in no folder", location)
	}
	if !filepath.IsLocal(location) {
		return nil, 0, fmt.Errorf("external data %.80q lies outside the model's folder; it is not opened", location)
	}
	root, err := os.OpenRoot(e.Dir)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	err = noLinks(root, location)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, problem.Advise("fetch it too", "its data should be in %.80q beside the model, and there is "+
			"no such file", location)
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := regular.OpenIn(root, location)
	if err != nil {
		return nil, 0, fmt.Errorf("external data: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// noLinks rejects a path with a symbolic link in it.
func noLinks(root *os.Root, path string) error {
	for p := filepath.Clean(path); p != "."; p = filepath.Dir(p) {
		info, err := root.Lstat(p)
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("external data %.80q is reached through a link; links are not followed", path)
		}
	}
	return nil
}
