package modelfile

import (
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// hasSize reports whether o sets the size of pictures.
func (o *Options) hasSize() bool { return o.Size != models.Size{} }

// checkSize refuses Size and Input together: both set the size.
func (o *Options) checkSize() error {
	if o.hasSize() && len(o.Input)+len(o.Inputs) > 0 {
		return problem.New("size", o.Size.Sides(), "contradicts {input}, which says it too",
			"leave one of them out")
	}
	return nil
}

// withSize returns the options m of an architecture of the zoo with the size of o, if it is
// set.
func (o *Options) withSize(a models.Architecture, m models.Options) models.Options {
	if o.hasSize() {
		m.Input = o.Size
		if m.Input.Channels == 0 {
			m.Input.Channels = a.Input.Channels
		}
	}
	return m
}

// identify does the same as formats.Identify for pictures of o.Size.
func (o *Options) identify(f *formats.File) (*models.Model, error) {
	m, err := formats.Identify(f)
	if err != nil {
		return nil, err
	}
	a, err := models.Lookup(m.Architecture)
	if err != nil {
		return nil, err
	}
	return models.Build(a.Name, o.withSize(a, models.Options{Classes: m.Classes()}))
}

// checkFixedSize refuses a size that differs from the size fixed by m's file.
func (o *Options) checkFixedSize(m *models.Model) error {
	s, ok := m.Size()
	if !o.hasSize() || ok && s.Height == o.Size.Height && s.Width == o.Size.Width {
		return nil
	}
	is := "no pictures"
	if ok {
		is = "pictures of " + s.Sides()
	}
	advice := "leave it out"
	if ok && isZooName(m.Architecture) {
		advice += fmt.Sprintf(", or train {model} %s with {size} %s and the file as {init}", m.Architecture,
			o.Size.Sides())
	}
	return problem.New("size", o.Size.Sides(), "the file says that its model takes "+is, advice)
}

// openForeign opens a file of another program. If its graph leaves the size of pictures
// open, the size of o is used.
func (o *Options) openForeign(path string) (*formats.File, error) {
	how, err := o.Foreign()
	if err != nil {
		return nil, err
	}
	f, err := formats.Open(path, how)
	if err != nil || !o.hasSize() || f.NoModel == nil {
		return f, err
	}
	var why []error
	for _, channels := range []int{3, 1} {
		how.Input = []int{channels, o.Size.Height, o.Size.Width}
		sized, err := formats.Open(path, how)
		if err == nil && sized.Model != nil {
			return sized, f.Close()
		}
		if err == nil {
			err = errors.Join(sized.NoModel, sized.Close())
		}
		why = append(why, err)
	}
	if why[0].Error() == why[1].Error() { // the error is not about the size
		f.NoModel = why[0]
	}
	return f, nil
}
