package modelfile

import (
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// sized reports whether o says how large pictures are.
func (o *Options) sized() bool { return o.Size != models.Size{} }

// oneSize refuses two options that say the same.
func (o *Options) oneSize() error {
	if o.sized() && len(o.Input) > 0 {
		return problem.New("size", o.Size.Sides(), "contradicts {input}, which says it too",
			"leave one of them out")
	}
	return nil
}

// ofSize returns the options m of an architecture of the zoo with the size of o, if
// that says one.
func (o *Options) ofSize(a models.Architecture, m models.Options) models.Options {
	if o.sized() {
		m.Input = o.Size
		if m.Input.Channels == 0 {
			m.Input.Channels = a.Input.Channels
		}
	}
	return m
}

// identify is formats.Identify for pictures of o.Size.
func (o *Options) identify(f *formats.File) (*models.Model, error) {
	m, err := formats.Identify(f)
	if err != nil {
		return nil, err
	}
	a, err := models.Lookup(m.Architecture)
	if err != nil {
		return nil, err
	}
	out := m.Graph.Main.Outputs[0].Value
	return models.Build(a.Name, o.ofSize(a, models.Options{Classes: m.Graph.Main.Values[out].Type.Shape[0]}))
}

// keepsSize refuses another size than that of a model whose file fixes it.
func (o *Options) keepsSize(m *models.Model) error {
	s, ok := m.Size()
	if !o.sized() || ok && s.Height == o.Size.Height && s.Width == o.Size.Width {
		return nil
	}
	is := "no pictures"
	if ok {
		is = "pictures of " + s.Sides()
	}
	advice := "leave it out"
	if ok && inZoo(m.Architecture) {
		advice += fmt.Sprintf(", or train {model} %s with {size} %s and the file as {init}", m.Architecture,
			o.Size.Sides())
	}
	return problem.New("size", o.Size.Sides(), "the file says that its model takes "+is, advice)
}

// openForeign opens a file of another program. If its graph leaves the size of
// pictures open, it becomes that of o.
func (o *Options) openForeign(path string) (*formats.File, error) {
	how, err := o.Foreign()
	if err != nil {
		return nil, err
	}
	f, err := formats.Open(path, how)
	if err != nil || !o.sized() || f.NoModel == nil {
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
	if why[0].Error() == why[1].Error() { // it is not about the size
		f.NoModel = why[0]
	}
	return f, nil
}

// zooFor returns the options of a model of the zoo for pictures of such data.
// A classifier takes its own size: that of its pictures is chance, and they are
// scaled. A network with a class for each pixel keeps the pictures' size if all
// are alike and it can take it. Channels are those of the data.
func zooFor(a models.Architecture, info data.Info, o models.Options) models.Options {
	given := o.Input != (models.Size{})
	if !given {
		o.Input = a.Input
	}
	if o.Input.Channels == 0 || !given {
		o.Input.Channels = 3 // of pictures of several sizes
		if len(info.Shape) == 3 {
			o.Input.Channels = info.Shape[2]
		}
	}
	if given || !a.Pixels || len(info.Shape) != 3 {
		return o
	}
	theirs := o
	theirs.Input.Height, theirs.Input.Width = info.Shape[0], info.Shape[1]
	if m, err := models.Build(a.Name, theirs); err != nil || tooManyTaps(m) {
		return o
	}
	return theirs
}

// mostTaps is how many places a window may look at in one picture: that many
// offsets fit into the tables of devices.
const mostTaps = 1 << 26

// tooManyTaps reports whether a window of m looks at more places than devices have
// offsets for, as one of 7x7 on a photo does.
func tooManyTaps(m *models.Model) bool {
	f := m.Graph.Main
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Op != graph.Conv && n.Op != graph.MaxPool && n.Op != graph.AvgPool {
			continue
		}
		window := f.WindowOf(n).Kernel
		places := 0
		for _, v := range []graph.Value{n.In[0], n.Out[0]} {
			places = max(places, tensor.Count(f.Values[v].Type.Shape[1:]))
		}
		if window[0]*window[1]*places > mostTaps {
			return true
		}
	}
	return false
}
