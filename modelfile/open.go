package modelfile

import (
	"errors"
	"fmt"
	"os"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// Opened is a model and a description of the parts used of its file.
type Opened struct {
	*models.Model
	Choice *Choice // nil for a bnctl file, which contains only a model
}

// Open reads the whole model of a file; the caller may change it.
func Open(path string, o Options) (*Opened, error) {
	native, err := CheckNative(path, o)
	if err != nil {
		return nil, err
	}
	if native {
		m, err := o.openNative(path)
		return &Opened{Model: m}, err
	}
	f, err := OpenForeign(path, o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := Template(f, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Opened{Model: m, Choice: NewChoice(path, f, o)}, nil
}

// CheckNative does the same as IsNative for a file that holds a model. For a bnctl file it refuses
// options about files of other programs.
func CheckNative(path string, o Options) (bool, error) {
	native, err := IsNative(path)
	if errors.Is(err, os.ErrNotExist) && isZooName(path) {
		err = problem.Advise("train it first",
			"%s: no such file, and the model of that name has no weights", path)
	}
	if native && err == nil {
		err = o.refuseForeign(path + " is a file of bnctl")
	}
	return native, err
}

// openNative reads the model of a bnctl file.
func (o *Options) openNative(path string) (*models.Model, error) {
	if o.Merge != "" {
		m, _, err := Strip(path, *o)
		return m, err
	}
	m, err := serialize.ReadModel(path)
	if err != nil {
		return nil, err
	}
	return o.applyTo(m)
}

// OpenForeign opens a file of another program. Template makes a model of it. The caller
// closes it.
func OpenForeign(path string, o Options) (*formats.File, error) {
	return o.openForeign(path)
}

// Template returns the model of a file of another program. Its preprocessing comes from o,
// otherwise from the file, or from the graph that o.Arch names. The model may share memory
// with f.
func Template(f *formats.File, o Options) (*models.Model, error) {
	as, err := Architecture(f, o)
	if err != nil {
		return nil, err
	}
	found := as == nil && f.Model == nil
	if found && o.hasSize() && f.NoModel == nil {
		if as, err = o.identify(f); err != nil {
			return nil, err
		}
	}
	m, err := formats.Template(f, as)
	if err != nil {
		return nil, err
	}
	if found { // the tensors are recognised as a model of the zoo
		m.Preprocess = models.Preprocess{}
	}
	if m, err = models.WithBoxes(m, o.Boxes); err != nil {
		return nil, err
	}
	return o.applyTo(withLabels(m, f.Labels))
}

// Strip reads a checkpoint of bnctl and removes everything that only training needs. It
// returns the template, with the weights of o.Epoch, and a list of the removed parts.
func Strip(path string, o Options) (*models.Model, *Removed, error) {
	average := o.EMA
	o.EMA = false // the default
	if err := o.refuseForeign(path + " is a file of bnctl"); err != nil {
		return nil, nil, err
	}
	k, err := serialize.ReadCheckpoint(path)
	if err != nil {
		return nil, nil, err
	}
	if average && !k.Averages() {
		return nil, nil, problem.New("ema", "", path+" holds no averages: its run was without {ema}",
			"leave it out")
	}
	strip, err := o.atEpoch(path, k)
	if err != nil {
		return nil, nil, err
	}
	if o.Merge != "" {
		rule, err := bn.ParseRule(string(o.Merge))
		if err != nil {
			return nil, nil, problem.Wrap("merge", err)
		}
		if k, err = serialize.MergeReplicas(k, rule); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	m, removed, err := strip(k)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	m, err = o.applyTo(m)
	return m, NewRemoved(&removed), err
}

// initial holds the tensors and labels to initialise another model from.
type initial struct {
	state  map[string]tensor.Tensor
	labels []string      // names of the classes; nil: not known
	choice *Choice       // nil for a bnctl file
	fits   func() string // returns the architecture of the zoo, or ""
}

// readState reads the tensors of any file, for m to be initialised from by name
// and shape; see models.InitFrom.
func readState(path string, o Options, m *models.Model) (initial, error) {
	native, err := IsNative(path)
	if err != nil {
		return initial{}, err
	}
	if native {
		if err := o.refuseForeign(path + " is a file of bnctl"); err != nil {
			return initial{}, err
		}
		m, err := serialize.ReadModel(path)
		if err == nil {
			err = m.Trainable("init", path)
		}
		if err != nil {
			return initial{}, err
		}
		return initial{m.State, m.Labels, nil, func() string { return m.Architecture }}, nil
	}
	f, err := OpenForeign(path, o)
	if err != nil {
		return initial{}, err
	}
	defer f.Close()
	from := initial{fits: func() string {
		if as, err := formats.Identify(f); err == nil { // names and shapes remain valid after the file is closed
			return as.Architecture
		}
		return ""
	}}
	if f.Model != nil {
		from.labels, from.fits = f.Model.Labels, func() string { return "" }
	}
	if from.state, err = formats.State(f, m); err != nil {
		return initial{}, fmt.Errorf("%s: %w", path, err)
	}
	from.choice = NewChoice(path, f, o)
	return from, nil
}
