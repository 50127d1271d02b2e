package modelfile

import (
	"sync"

	"github.com/bnctl/bnctl/serialize"
)

// Viewed is a read-only model. A file of bnctl is mapped instead of copied, and
// verified while the model is used: results may be used only after Verified has
// returned nil.
type Viewed struct {
	Opened
	file     *serialize.File // nil: of a foreign file, which was read as a whole
	verified func() error
}

// View is Open for callers that do not change the model: a large template can
// predict before all of it is read. The caller closes the result.
func View(path string, o Options) (*Viewed, error) {
	ours, err := Ours(path, o)
	if err != nil {
		return nil, err
	}
	if !ours || o.Merge != "" {
		m, err := Open(path, o)
		if err != nil {
			return nil, err
		}
		return &Viewed{Opened: *m, verified: func() error { return nil }}, nil
	}
	f, err := serialize.OpenUnverified(path)
	if err != nil {
		return nil, err
	}
	v := &Viewed{file: f, verified: sync.OnceValue(f.Verify)}
	m, err := f.Model()
	if err == nil {
		v.Model, err = o.finish(m)
	}
	if err != nil {
		err = v.Blame(err)
		v.Close()
		return nil, err
	}
	return v, nil
}

// Verified waits until all of the file is read, and returns what is wrong with it.
func (v *Viewed) Verified() error { return v.verified() }

// Blame returns what is wrong with the file, if that can be why err happened.
func (v *Viewed) Blame(err error) error {
	if err == nil {
		return nil
	}
	if damage := v.verified(); damage != nil {
		return damage
	}
	return err
}

// Close lets go of the file. The model is of no use any more.
func (v *Viewed) Close() {
	if v.file != nil {
		_ = v.file.Close() // it was read only
	}
}
