package modelfile

import (
	"sync"

	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// ReadOnly is a read-only model. A file of bnctl is mapped instead of copied, and verified
// while the model is used: results may be used only after Verify has returned nil. The
// weights of another program's file are stored where devices of this machine can also map
// them.
type ReadOnly struct {
	Opened
	file     *serialize.File // nil for a foreign file, which is read completely
	memory   *tensor.Region  // tensors of a file of another program
	verified func() error
}

// OpenReadOnly does the same as Open for callers that do not change the model: a large template can
// predict before the whole file is read. The caller closes the result.
func OpenReadOnly(path string, o Options) (*ReadOnly, error) {
	native, err := CheckNative(path, o)
	if err != nil {
		return nil, err
	}
	if !native || o.Merge != "" {
		return openShared(path, o)
	}
	f, err := serialize.OpenUnverified(path)
	if err != nil {
		return nil, err
	}
	v := &ReadOnly{file: f, verified: sync.OnceValue(f.Verify)}
	m, err := f.Model()
	if err == nil {
		v.Model, err = o.applyTo(m)
	}
	if err != nil {
		err = v.OrDamage(err)
		v.Close()
		return nil, err
	}
	return v, nil
}

// openShared opens a file that is not a bnctl template.
func openShared(path string, o Options) (*ReadOnly, error) {
	o.memory = new(tensor.Region)
	m, err := Open(path, o)
	if err != nil {
		o.memory.Close()
		return nil, err
	}
	o.memory.Adopt(m.State)
	return &ReadOnly{Opened: *m, memory: o.memory, verified: func() error { return nil }}, nil
}

// Verify waits until the whole file is read, and returns an error if it is damaged.
func (v *ReadOnly) Verify() error { return v.verified() }

// OrDamage returns err, or the damage of the file if there is any, since it may be the
// cause.
func (v *ReadOnly) OrDamage(err error) error {
	if err == nil {
		return nil
	}
	if damage := v.verified(); damage != nil {
		return damage
	}
	return err
}

// Close releases the file. The model must not be used afterwards.
func (v *ReadOnly) Close() {
	if v.file != nil {
		_ = v.file.Close() // the file was only read
	}
	if v.memory != nil {
		v.memory.Close()
	}
}
