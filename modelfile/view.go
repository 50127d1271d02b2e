package modelfile

import (
	"sync"

	"github.com/bnctl/bnctl/serialize"
)

// ReadOnly is a read-only model. A file of bnctl is mapped instead of copied, and
// verified while the model is used: results may be used only after Verify has
// returned nil.
type ReadOnly struct {
	Opened
	file     *serialize.File // nil: of a foreign file, which was read as a whole
	verified func() error
}

// OpenReadOnly is Open for callers that do not change the model: a large template can
// predict before all of it is read. The caller closes the result.
func OpenReadOnly(path string, o Options) (*ReadOnly, error) {
	native, err := CheckNative(path, o)
	if err != nil {
		return nil, err
	}
	if !native || o.Merge != "" {
		m, err := Open(path, o)
		if err != nil {
			return nil, err
		}
		return &ReadOnly{Opened: *m, verified: func() error { return nil }}, nil
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

// Verify waits until all of the file is read, and returns what is wrong with it.
func (v *ReadOnly) Verify() error { return v.verified() }

// OrDamage returns what is wrong with the file, if that can be why err happened.
func (v *ReadOnly) OrDamage(err error) error {
	if err == nil {
		return nil
	}
	if damage := v.verified(); damage != nil {
		return damage
	}
	return err
}

// Close lets go of the file. The model is of no use any more.
func (v *ReadOnly) Close() {
	if v.file != nil {
		_ = v.file.Close() // it was read only
	}
}
