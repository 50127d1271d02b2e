package quantize

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/objects"
	withboxes "github.com/bnctl/bnctl/objects/samples"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
)

// samples are the inputs for measuring ranges.
type samples struct {
	batches []tensor.Tensor
	info    data.Info
	count   int
	fleet   fleet.Options
	opened  *fleet.Fleet
	batch   int
	numbers []string // the parts that made the inputs, with their numbers: "decode.jpeg/1"
	classes []string // the kernel class that ran the model, with its number: "fma/1"; set by each()
}

// openSamples opens o.Source. Pictures and arrays need no labels.
func openSamples(ctx context.Context, m *models.Model, o Options) (data.Source, error) {
	kind, path, isSpec := strings.Cut(o.Source, ":")
	switch {
	case kind == "npy" && isSpec && !strings.Contains(path, ","), kind == "folder" && isFlat(path):
		return openUnlabelled(ctx, m, path, o)
	case !isSpec && isThere(o.Source):
		return openUnlabelled(ctx, m, o.Source, o)
	}
	wanted := data.Options{Split: data.Train, CannotSkip: true, EXIF: true}
	open := func() (data.Source, error) { return predict.OpenData(ctx, m, o.Source, wanted, o.Note) }
	if objects.HasBoxes(ctx, o.Source) {
		open = func() (data.Source, error) { return withboxes.OpenData(ctx, o.Source, wanted) }
	}
	src, err := open()
	if err == nil {
		predict.NoteFiles(src, o.Note)
	}
	return src, err
}

// openUnlabelled opens a folder of pictures, a picture file or an array.
func openUnlabelled(ctx context.Context, m *models.Model, path string, o Options) (data.Source, error) {
	in, err := predict.OpenInputs(ctx, m, []string{path}, false, o.Note)
	if err != nil {
		return nil, err
	}
	return in.Source, nil
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// isFlat reports whether a folder has no folders of classes in it.
func isFlat(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.IsDir() })
}

// readSamples reads at most o.Samples samples. The random choice is the same every time.
func readSamples(ctx context.Context, m *models.Model, o Options) (_ *samples, err error) {
	src := o.Data
	if src == nil {
		if src, err = openSamples(ctx, m, o); err != nil {
			return nil, err
		}
		defer src.Close()
	}
	if o.Samples > 0 && o.Samples < src.Info().Len {
		if src, err = data.Subset(src, o.Samples, 0); err != nil {
			return nil, err
		}
	}
	o.Batch = min(cmp.Or(o.Batch, 128), max(1, src.Info().Len)) // a larger batch would only use memory
	s := &samples{info: src.Info(), fleet: o.Fleet, opened: o.Opened, batch: o.Batch}
	fed, err := fit.Model(m, s.info)
	if err != nil {
		return nil, err
	}
	l, err := data.NewLoader(ctx, src, data.Plan{Batch: o.Batch, Epochs: 1, Workers: o.Workers,
		Transform: fit.Transform(fed, s.info)})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if _, err := src.Fingerprint(ctx); err != nil {
		return nil, err
	}
	s.numbers = recipe.InputNumbers(fed, src.Info())
	return s, s.read(l)
}

// read reads all batches.
func (s *samples) read(l *data.Loader) error {
	for {
		b, err := l.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		s.batches = append(s.batches, b.X.Clone())
		s.count += b.X.Shape[0]
		b.Release()
	}
}

// each runs models on every batch. For each batch it calls do with the outputs of all
// models.
func (s *samples) each(ctx context.Context, do func(outputs [][]tensor.Tensor) error,
	ms ...*models.Model) error {
	ps := make([]*predict.Predictor, len(ms))
	for i, m := range ms {
		fed, err := fit.Model(m, s.info)
		if err != nil {
			return err
		}
		if ps[i], err = predict.Open(ctx, fed, predict.Options{Fleet: s.fleet, Opened: s.opened, Batch: s.batch,
			Reopen: s.opened != nil}); err != nil {
			return err
		}
		defer ps[i].Close()
		s.classes = recipe.NumberedClasses(ps[i].Fleet.Members)
	}
	for _, x := range s.batches {
		outputs := make([][]tensor.Tensor, len(ms))
		for i, p := range ps {
			out, err := p.Predict(ctx, x)
			if err != nil {
				return err
			}
			outputs[i] = out
		}
		if err := do(outputs); err != nil {
			return err
		}
	}
	return nil
}

// withOutputs returns m with values as additional outputs, after the outputs of m.
func withOutputs(m *models.Model, values []graph.Value) (*models.Model, error) {
	table := append([]graph.State{}, m.Graph.State...)
	b := graph.Extend(m.Graph.Main, &table)
	for _, v := range values {
		name := "measured." + m.Graph.Main.Values[v].Name
		if b.Type(v).DType == tensor.U8 {
			return nil, errors.New(name + " is bytes")
		}
		b.Output(name, v, false)
	}
	main, err := b.Function()
	out := *m
	out.Graph = &graph.Graph{Name: m.Graph.Name, State: table, Main: main}
	return &out, err
}
