package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/regular"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// fileFlags say what of a foreign file is the model.
func fileFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "arch",
			Usage: "`NAME` of the zoo, a graph file, a Keras .json or Caffe's deploy.prototxt: what a file holds"},
		&cli.StringFlag{Name: "key", Usage: "`NAME` of the state dict in a PyTorch checkpoint"},
		&cli.StringFlag{Name: "input",
			Usage: "`C,H,W`: how large the input is, where the graph in a file leaves that open"},
		&cli.StringSliceFlag{Name: "drop",
			Usage: "leave out tensors that match `PATTERN` ('criterion.*'), of a file of mere tensors; repeated"},
	}
}

// own reports whether a file is one of bnctl's: a template or a checkpoint.
func own(path string) (bool, error) {
	if isFolder(path) {
		return false, nil
	}
	f, err := regular.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len("\x89BNM"))
	if _, err := io.ReadFull(f, head); err != nil {
		return false, nil
	}
	return bytes.Equal(head, []byte("\x89BNM")) || bytes.Equal(head, []byte("\x89BNC")), nil
}

// isFolder reports whether there is a folder of that name.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// ownFile is own, and refuses the flags that say what a foreign file is.
func ownFile(c *cli.Context, path string) (bool, error) {
	ours, err := own(path)
	if errors.Is(err, os.ErrNotExist) && inZoo(path) {
		err = fmt.Errorf("%s: no such file, and the model of that name has no weights; train it first", path)
	}
	if ours && err == nil {
		err = without(c, path+" is bnctl's own file", "arch", "key", "drop", "input")
	}
	return ours, err
}

// openModel reads the model of any file: a template, or a foreign file, whose
// preprocessing only the flags can tell.
func openModel(c *cli.Context, path string) (*models.Model, error) {
	o, err := foreignOptions(c)
	if err != nil {
		return nil, err
	}
	return openModelWith(c, path, o)
}

// openModelWith is openModel with what the flags say of foreign files.
func openModelWith(c *cli.Context, path string, o formats.Options) (*models.Model, error) {
	ours, err := ownFile(c, path)
	if err != nil {
		return nil, err
	}
	if ours {
		m, err := serialize.ReadModel(path)
		if err != nil {
			return nil, err
		}
		return preprocessed(c, m)
	}
	f, err := formats.Open(path, o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := foreignModel(c, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	noteChoice(outputOf(c), path, f)
	return m, nil
}

// openForeign opens a foreign file with what the flags say.
func openForeign(c *cli.Context, path string) (*formats.File, error) {
	o, err := foreignOptions(c)
	if err != nil {
		return nil, err
	}
	return formats.Open(path, o)
}

// foreignOptions returns what the flags say of foreign files.
func foreignOptions(c *cli.Context) (formats.Options, error) {
	o, err := givenOptions(c)
	o.EMA = c.Bool("ema")
	if rule := c.String("merge"); rule != "" && err == nil {
		if o.Merge, err = bn.ParseRule(rule); err != nil {
			err = misuse("--merge: %v", err)
		}
	}
	return o, err
}

// givenOptions returns what --key, --drop, --input and --arch say of foreign files.
func givenOptions(c *cli.Context) (o formats.Options, err error) {
	o.Key, o.Drop = c.String("key"), c.StringSlice("drop")
	if c.IsSet("input") {
		if o.Input, err = inputLengths(c.String("input")); err != nil {
			return o, err
		}
	}
	if name := c.String("arch"); name != "" {
		o.Description, err = description(name)
	}
	return o, err
}

// inputLengths reads --input.
func inputLengths(text string) ([]int, error) {
	var lengths []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > 1<<20 {
			return nil, misuse("--input %q: want the lengths of one sample, for example --input 3,224,224", text)
		}
		lengths = append(lengths, n)
	}
	return lengths, nil
}

// description returns the content of a file that describes a Keras model in
// JSON, or a network of Caffe in text; nil if it does neither, or there is no
// such file.
func description(path string) ([]byte, error) {
	const most = 64 << 20
	f, err := regular.Open(path)
	if err != nil {
		return nil, nil // a name of the zoo
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	if formats.Describes(head[:n]) == "" {
		return nil, nil
	}
	return io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(head[:n]), f), most))
}

// foreignModel returns the model of a foreign file, with the preprocessing of
// the flags. Of itself only the file can tell that of pictures, or a graph that
// --arch names: what the zoo trains with is no statement about somebody's weights.
func foreignModel(c *cli.Context, f *formats.File) (*models.Model, error) {
	as, err := architectureOf(c, f)
	if err != nil {
		return nil, err
	}
	m, err := formats.Template(f, as)
	if err != nil {
		return nil, err
	}
	if as == nil && m != f.Model { // found in the zoo
		m.Preprocess = models.Preprocess{}
	}
	return preprocessed(c, m)
}

// withoutImage returns m with arrays for input, and nothing known of pictures.
func withoutImage(m *models.Model) (*models.Model, error) {
	m, err := models.WithArrays(m)
	if err != nil {
		return nil, err
	}
	out := *m
	out.Preprocess = models.Preprocess{}
	return &out, nil
}

// architectureOf returns the model that --arch names, without state; nil
// without the flag, and where the file has been read by it already.
func architectureOf(c *cli.Context, f *formats.File) (*models.Model, error) {
	name := c.String("arch")
	if name == "" {
		return nil, nil
	}
	if text, err := description(name); text != nil || err != nil {
		return nil, err
	}
	text, err := graphText(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if text != nil {
		g, err := graph.ParseGraph(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		m, err := models.New(g)
		if err == nil {
			m.Preprocess.Known = imageOf(m) != nil
		}
		return m, err
	}
	if _, err := architecture(name); err != nil {
		return nil, err
	}
	m, err := models.Build(name, models.Options{})
	if err != nil {
		return nil, err
	}
	last := m.Graph.State[len(m.Graph.State)-1] // of the head: one element for each class
	if t, ok := f.Tensor(last.Name); ok && len(t.Shape) == 1 && t.Shape[0] != last.Shape[0] {
		if m, err = models.Build(name, models.Options{Classes: t.Shape[0]}); err != nil {
			return nil, err
		}
	}
	m.Preprocess = models.Preprocess{}
	return m, nil
}

// readState reads the state of a model from any file, to be taken by m by name
// and shape, and says what of the file was chosen.
func readState(out *output, path string, o formats.Options, m *models.Model) (
	map[string]tensor.Tensor, error) {
	ours, err := own(path)
	if err != nil {
		return nil, err
	}
	if ours {
		m, err := serialize.ReadModel(path)
		if err != nil {
			return nil, err
		}
		return m.State, nil
	}
	f, err := formats.Open(path, o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	state, err := formats.State(f, m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	noteChoice(out, path, f)
	return state, nil
}
