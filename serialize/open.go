package serialize

import (
	"fmt"

	"github.com/bnctl/bnctl/models"
)

// File is a template or a checkpoint that was verified as a whole. What comes
// out of it shares the file's memory: it must not be changed, and not be used
// after Close.
type File struct {
	Kind    Kind
	path    string
	header  *header
	tensors []named
	close   func() error
}

// Open maps a file and verifies every byte of it. Errors say what is wrong
// with it and name the tensor.
func Open(path string) (*File, error) {
	b, release, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	k, h, tensors, err := readContainer(b)
	if err == nil && (k == Training) != (h.Training != nil) {
		err = fmt.Errorf("header: it is that of another kind of file than the magic says: the file is damaged")
	}
	if err != nil {
		release()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &File{Kind: k, path: path, header: h, tensors: tensors, close: release}, nil
}

// Model returns the template that the file holds. For a checkpoint the error
// says to strip it.
func (f *File) Model() (*models.Model, error) {
	if f.Kind != Template {
		return nil, fmt.Errorf(
			"%s is a training checkpoint; make a template of it with: bnctl strip %s -o model.bnm",
			f.path, f.path)
	}
	m, err := f.header.model(f.tensors)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return m, nil
}

// Checkpoint returns the checkpoint that the file holds.
func (f *File) Checkpoint() (*Checkpoint, error) {
	if f.Kind != Training {
		return nil, fmt.Errorf("%s is a template: training cannot go on from it, but start from it with --init",
			f.path)
	}
	c, err := f.header.checkpoint(f.tensors)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return c, nil
}

// Close releases the file's memory.
func (f *File) Close() error { return f.close() }
