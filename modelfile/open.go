package modelfile

import (
	"errors"
	"fmt"
	"os"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/modelfile/formats"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// Opened is a model and what of its file was taken.
type Opened struct {
	*models.Model
	Choice *Choice // nil: one of bnctl's own files, which is a model and nothing else
}

// Open reads the model of a file as a whole; it may be changed.
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

// CheckNative is IsNative for a file that holds a model: it refuses options about files of
// other programs if it is one of bnctl's.
func CheckNative(path string, o Options) (bool, error) {
	native, err := IsNative(path)
	if errors.Is(err, os.ErrNotExist) && isZooName(path) {
		err = problem.Advise("train it first",
			"%s: no such file, and the model of that name has no weights", path)
	}
	if native && err == nil {
		err = o.refuseForeign(path + " is bnctl's own file")
	}
	return native, err
}

// openNative reads the model of one of bnctl's own files.
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

// OpenForeign opens a file of another program, of which Template makes a
// model. The caller closes it.
func OpenForeign(path string, o Options) (*formats.File, error) {
	return o.openForeign(path)
}

// Template returns the model of a file of another program. Its preprocessing is
// that of o, or else that of the file, or of a graph that o.Arch names. The
// model may share memory with f.
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
	if found { // in the zoo
		m.Preprocess = models.Preprocess{}
	}
	return o.applyTo(withLabels(m, f.Labels))
}

// Strip reads a checkpoint of bnctl, and says what it took off it: what only
// training needs. The template has the weights of o.Epoch.
func Strip(path string, o Options) (*models.Model, *Removed, error) {
	if err := o.refuseForeign(path + " is bnctl's own file"); err != nil {
		return nil, nil, err
	}
	k, err := serialize.ReadCheckpoint(path)
	if err != nil {
		return nil, nil, err
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

// readState reads the tensors of any file, for m to be initialised from by name
// and shape; see models.InitFrom. labels are the names of the file's classes, if it has
// some. The Choice is nil for bnctl's own files.
func readState(path string, o Options, m *models.Model) (state map[string]tensor.Tensor, labels []string,
	choice *Choice, err error) {
	native, err := IsNative(path)
	if err != nil {
		return nil, nil, nil, err
	}
	if native {
		if err := o.refuseForeign(path + " is bnctl's own file"); err != nil {
			return nil, nil, nil, err
		}
		m, err := serialize.ReadModel(path)
		if err != nil {
			return nil, nil, nil, err
		}
		return m.State, m.Labels, nil, nil
	}
	f, err := OpenForeign(path, o)
	if err != nil {
		return nil, nil, nil, err
	}
	defer f.Close()
	if f.Model != nil {
		labels = f.Model.Labels
	}
	state, err = formats.State(f, m)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return state, labels, NewChoice(path, f, o), nil
}
