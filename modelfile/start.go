package modelfile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// StartOptions define a model for training.
type StartOptions struct {
	Options
	Classes int    // number of classes of a new head; 0: as in the data, or in the file
	Seed    uint64 // seed for the weights of a new head
	// Init is a file to copy weights from, by name and shape; "" means no file. It is
	// refused for a model that already has weights. Key, Drop, Rename and Labels then apply
	// to this file.
	Init string
	// Auxiliary gives a model of the zoo the head of models.Options.Auxiliary.
	Auxiliary bool
	// TrainTensors are patterns of names of constants that are trained: see models.WithTrained.
	TrainTensors []string
}

// Started is the model that training starts from.
type Started struct {
	Opened
	// Weights is the SHA-256 of the file that has its weights; "" if all of them
	// were drawn from the seed.
	Weights        string
	PreviousLabels []string // the classes that the model in the file was trained on
	DataClasses    int      // number of classes of the data
	MovedRows      int      // rows of the head that moved with their labels
	// InitChoice describes the parts used of the file Init. It is nil without Init, and for
	// bnctl files. Loaded lists the tensors of the model that were loaded; it is nil
	// without Init.
	InitChoice *Choice
	Loaded     *models.Loaded
	format     string // set by SetWeights
}

// WeightsFormat returns the format of the file that has the weights, "bnctl" for a bnctl file, and ""
// if all weights were drawn from the seed.
func (s *Started) WeightsFormat() string {
	choice := s.Choice
	if s.InitChoice != nil {
		choice = s.InitChoice
	}
	switch {
	case s.Weights == "":
		return ""
	case choice == nil:
		return cmp.Or(s.format, "bnctl")
	}
	return choice.Format
}

// SetWeights records the source of weights that another rank has loaded: the SHA-256 of
// their file, and its format in the form of WeightsFormat.
func (s *Started) SetWeights(sum, format string) { s.Weights, s.format = sum, format }

// Start makes a model for training on data described by info, with the names of its
// classes: from the zoo by name, as fit.Zoo makes it, from a graph in text form, or from
// any model file. Weights come from the file, or from Init. Missing weights, for example of
// a new head, are drawn from the seed.
func Start(name string, info data.Info, o StartOptions) (*Started, error) {
	if name == "" {
		return nil, problem.New("model", "", "there is none to train", "name one of the zoo, or a model file")
	}
	if err := o.checkSize(); err != nil {
		return nil, err
	}
	o.training = true
	if o.Classes == 1 && !info.MultiLabel && info.Targets == nil && !info.Boxes {
		return nil, problem.New("classes", "1", "want at least 2: the labels of "+info.Kind+" are classes", "")
	}
	s, err := newStarted(name, info, o)
	if err != nil {
		return nil, err
	}
	if s.Model, err = models.WithTrained(s.Model, o.TrainTensors); err != nil {
		return nil, err
	}
	if err := s.setClasses(slices.Concat(info.Classes, info.Targets)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// setClasses gives the model the classes of the data. If the model, or the file of its
// weights, has names for all rows of its head, the rows move with their labels.
func (s *Started) setClasses(classes []string) error {
	if s.PreviousLabels == nil {
		s.PreviousLabels = s.Labels
	}
	s.Labels, s.DataClasses = classes, len(classes)
	count := s.Model.Classes()
	if count == 0 || len(s.PreviousLabels) != count || len(classes) > len(s.PreviousLabels) {
		return nil
	}
	from := models.PermutationByLabel(s.PreviousLabels, classes)
	for i, k := range from {
		if i != k {
			s.MovedRows++
		}
		if i >= len(classes) {
			s.Labels = append(slices.Clip(s.Labels), s.PreviousLabels[k])
		}
	}
	if s.MovedRows == 0 {
		return nil
	}
	if err := models.PermuteRows(s.Model, from); err != nil {
		return problem.Advise("give data with the model's classes in its order, or make a new head with {classes}",
			"the classes are others, or in another order: the model has %s, the data %s; %w",
			models.ClassList(s.PreviousLabels), models.ClassList(classes), err)
	}
	return nil
}

func newStarted(name string, info data.Info, o StartOptions) (*Started, error) {
	text, err := ReadGraphText(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var m *models.Model
	switch {
	case text != nil:
		m, err = o.fromText(name, text)
	case err == nil && !isZooName(name):
		return fromFile(name, info, o)
	case len(info.Classes) == 1 && !info.MultiLabel && !info.Masks && !info.Boxes && o.Classes == 0:
		err = problem.Failure("data", "all samples of "+info.Kind+" are of class "+info.Classes[0]+
			": nothing can be told apart", "add samples of another class")
	default:
		m, err = fit.Zoo(name, info, models.Options{Input: o.Size, Classes: o.Classes, Auxiliary: o.Auxiliary})
	}
	if err != nil {
		return nil, err
	}
	about := o.Options
	if o.Init != "" {
		about.Key, about.Drop, about.Rename = "", nil, nil
	}
	if err := about.refuseForeign(name + " is no file of weights"); err != nil {
		return nil, err
	}
	if o.Labels != nil && o.Init == "" {
		return nil, problem.New("labels", "", "means nothing here: a new model has the classes of its data",
			"leave it out")
	}
	if m, err = o.Preprocess.apply(m); err != nil {
		return nil, err
	}
	s := &Started{Opened: Opened{Model: m}}
	return s, s.initialise(o)
}

// initialise draws the weights of a new model, and replaces them by the weights that the
// file o.Init has.
func (s *Started) initialise(o StartOptions) error {
	if err := models.Init(s.Model, o.Seed); err != nil || o.Init == "" {
		return err
	}
	if err := checkUnique(o.Labels); err != nil {
		return err
	}
	from, err := readState(o.Init, o.Options, s.Model)
	if err != nil {
		return err
	}
	loaded, err := models.InitFrom(s.Model, from.state)
	if loaded.Few() {
		if fits := from.fits(); fits != s.Architecture {
			loaded.Fits = fits
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", o.Init, err)
		if isZooName(loaded.Fits) {
			err = problem.Advise("train {model} "+loaded.Fits+", which it fits", "%w", err)
		}
		return err
	}
	s.InitChoice, s.Loaded = from.choice, &loaded
	labels := from.labels
	if o.Labels != nil {
		labels = o.Labels
	}
	head, err := models.HeadState(s.Model)
	if err == nil && slices.Contains(loaded.Matched, head[0]) { // otherwise the head has random weights
		s.PreviousLabels = labels
	}
	s.Weights, err = Digest(o.Init)
	return err
}

// StartArrays returns a converter from the array of an .npy file to samples for the model
// of Start, by the rule of fit.Arrays: training accepts the same arrays as prediction. The
// model of a file is opened when the first array comes. A model of the zoo is made for the
// data: integers are pictures, floats are used unchanged.
func StartArrays(name string, o StartOptions, note func(format string, args ...any)) fit.Converter {
	o.training = true
	find := sync.OnceValues(func() (*models.Model, error) { return unfitted(name, o) })
	return func(file string, x tensor.Tensor) (tensor.Tensor, error) {
		m, err := find()
		if err != nil {
			return x, err
		}
		if m != nil {
			return fit.Arrays(m, note)(file, x)
		}
		return fit.ZooArrays(note)(file, x)
	}
}

// unfitted returns the model that Start will fit to the data; nil for a model of the zoo,
// which is made for the data.
func unfitted(name string, o StartOptions) (*models.Model, error) {
	text, err := ReadGraphText(name)
	switch {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, err
	case text != nil:
		m, err := o.fromText(name, text)
		if err != nil {
			return nil, err
		}
		return o.Preprocess.apply(m)
	case err == nil && !isZooName(name):
		opened, err := Open(name, o.Options)
		if err != nil {
			return nil, err
		}
		return opened.Model, nil
	}
	return nil, nil
}

// fromFile opens a template, or the file of another program, for training.
func fromFile(path string, info data.Info, o StartOptions) (*Started, error) {
	if o.Init != "" {
		return nil, problem.New("init", o.Init, "model "+path+" has weights of its own", "leave one of them out")
	}
	was, err := Open(path, o.Options)
	if err != nil {
		return nil, err
	}
	if err := was.Trainable("model", path); err != nil {
		return nil, err
	}
	model, err := models.Uncalibrated(was.Model) // a temperature and thresholds are only valid for the weights
	if err != nil {
		return nil, err
	}
	if model, err = models.WithThresholds(model, nil); err != nil {
		return nil, err
	}
	if was.Model, err = fit.Model(model, info); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
		if s, ok := model.SizeOf(info.Shape); ok && o.hasSize() && !info.Pictures() {
			err = problem.Advise("arrays keep their shape: make the model for them with {size} "+s.Sides(), "%w", err)
		}
		return nil, err
	}
	m := was.Clone()
	if o.Classes != 0 {
		if m, err = models.WithClasses(was.Model, o.Classes); err != nil {
			return nil, err
		}
		if err := models.InitHead(m, was.Model, o.Seed); err != nil {
			return nil, err
		}
	}
	m.Recipe = nil // recipe of another run
	if c := was.Choice; c != nil && c.Format == "onnx" {
		if text := foldedNorms(m); text != "" {
			c.Findings = append(c.Findings, formats.Finding{Text: text, Advice: "torch.onnx.export(model.eval(), " +
				"..., training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False) keeps them"})
		}
		if text := equalParameters(m); text != "" {
			c.Findings = append(c.Findings, formats.Finding{Text: text, Advice: "if they are one parameter of the " +
				"module, torch.onnx.export(..., do_constant_folding=False) keeps them together"})
		}
	}
	sum, err := Digest(path)
	return &Started{Opened: Opened{m, was.Choice}, Weights: sum}, err
}

// fromText makes a model of a graph in text form, with the size and the number of classes
// of o. Values that o leaves open come from the graph.
func (o *StartOptions) fromText(path string, text []byte) (*models.Model, error) {
	g, err := graph.ParseGraph(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m, err := models.New(g)
	if err != nil {
		return m, err
	}
	if i, ok := models.ImageOf(m); ok && i.Units() != nil {
		return nil, fmt.Errorf("%s: %w", path, i.Units())
	}
	if o.hasSize() {
		if m, err = models.WithSize(m, o.Size.Height, o.Size.Width); err != nil {
			return nil, err
		}
	}
	if o.Classes == 0 {
		return m, nil
	}
	return models.WithClasses(m, o.Classes)
}
