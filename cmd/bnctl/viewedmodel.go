package main

import (
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

// viewedModel is a model to be read only. One of bnctl's own files is not
// copied, and verified while it is used: what comes of it counts when verified
// says so.
type viewedModel struct {
	*models.Model
	file     *serialize.File // nil: of a foreign file, which was read as a whole
	verified func() error
}

// viewModel is openModel for who does not change the model.
func viewModel(c *cli.Context, path string) (*viewedModel, error) {
	ours, err := ownFile(c, path)
	if err != nil {
		return nil, err
	}
	if !ours {
		m, err := openModel(c, path)
		return &viewedModel{Model: m, verified: func() error { return nil }}, err
	}
	f, err := serialize.Start(path)
	if err != nil {
		return nil, err
	}
	v := &viewedModel{file: f, verified: sync.OnceValue(f.Verified)}
	m, err := f.Model()
	if err == nil {
		v.Model, err = preprocessed(c, m)
	}
	if err != nil {
		err = v.blame(err)
		v.close()
		return nil, err
	}
	return v, nil
}

// blame returns what is wrong with the file, if that can be why err happened.
func (v *viewedModel) blame(err error) error {
	if err == nil {
		return nil
	}
	if damage := v.verified(); damage != nil {
		return damage
	}
	return err
}

// close lets go of the file. The model is of no use any more.
func (v *viewedModel) close() {
	if v.file != nil {
		_ = v.file.Close() // it was read only
	}
}
