package serialize

import (
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// File is an open template or checkpoint. Models and checkpoints from it share
// the file's memory: they must not be changed, and not be used after Close.
type File struct {
	Kind         Kind
	path         string
	header       *header
	tensors      []named
	mapped       *tensor.Mapped
	verification *verification
}

// Open maps a file into memory and verifies all its bytes. Errors describe the damage and name the
// tensor.
func Open(path string) (*File, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	return f.whole()
}

// parse does the same as Open for a file that is already in memory. Errors refer to the
// file by name.
func parse(name string, b []byte) (*File, error) {
	f, err := opened(name, &tensor.Mapped{Bytes: b})
	if err != nil {
		return nil, err
	}
	return f.whole()
}

// whole verifies all tensors, and closes the file if one is damaged.
func (f *File) whole() (*File, error) {
	f.verification = verify(f.header.Tensors, f.tensors, allCores(), func(tensor.Tensor) {})
	if err := f.Verify(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// OpenUnverified is like Open, except that only the header is verified when it returns. The tensors
// are verified in the background. The caller may compute with them, but must call Verify before it
// uses a result. Verification reads the tensors from the file a second time, so it needs no memory
// for them.
func OpenUnverified(path string) (*File, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	cores := max(1, allCores()-1) // one core is left for the caller
	drop := func(t tensor.Tensor) { f.mapped.DropPages(t.Bytes) }
	f.verification = verify(f.header.Tensors, f.tensors, cores, drop)
	return f, nil
}

// open maps a file and verifies all but its tensors.
func open(path string) (*File, error) {
	m, err := tensor.Map(path)
	if err != nil {
		return nil, err
	}
	return opened(path, m)
}

// opened decodes a file that is mapped or in memory, and closes it after an error.
func opened(path string, m *tensor.Mapped) (*File, error) {
	var k Kind
	var h *header
	var tensors []named
	err := attended(func() (err error) {
		k, h, tensors, err = readContainer(m.Bytes)
		return err
	})
	if err == nil && (k == Training) != (h.Training != nil) {
		err = fmt.Errorf("header: it is that of another kind of file than the magic says: the file is damaged")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), m.Close())
	}
	return &File{Kind: k, path: path, header: h, tensors: tensors, mapped: m}, nil
}

// Verify waits until every byte is verified, and returns nil if the file is undamaged. Errors
// describe the damage and name the tensor. Verify also returns an error if the file was written to
// after it was opened.
func (f *File) Verify() error {
	if err := f.verification.wait(); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if f.mapped.Changed() {
		return problem.Advise("try again", "%s: the file was changed while it was read", f.path)
	}
	return nil
}

// copied calls copies, which copies tensors out of the file. Afterwards it verifies that
// the file has not changed.
func (f *File) copied(copies func()) error {
	err := attended(func() error {
		copies()
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return f.Verify()
}

// Model returns the template in the file. For a checkpoint it returns an error that advises to
// strip it.
func (f *File) Model() (*models.Model, error) {
	if f.Kind != Template {
		return nil, problem.Advise("make a template of it with {strip}", "%s is a training checkpoint", f.path)
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
		kind, advice := "a template", "to train on with its weights, name it as the model"
		if f.header.Int8 != nil { // int8 weights cannot be trained
			kind, advice = "an int8 template", f.header.Int8.Instead()
		}
		return nil, problem.Advise(advice, "%s is %s: it has nothing that only training needs", f.path, kind)
	}
	c, err := f.header.checkpoint(f.tensors)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return c, nil
}

// Close releases the memory of the file and ends the verification.
func (f *File) Close() error {
	f.verification.end()
	return f.mapped.Close()
}
