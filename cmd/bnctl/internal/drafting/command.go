// Package drafting has the command that writes a draft of a graph, as text, for the tensors of a state dict.
package drafting

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/modelfile/draft"
)

// Tools are functions and flags of the command line that the command needs.
type Tools struct {
	Flags    []cli.Flag // flags that select the model in a file
	Argument func(c *cli.Context, name, subject string) (string, error)
	Options  func(*cli.Context) (modelfile.Options, error)
	Output   func(*cli.Context) (note func(format string, args ...any), stdout io.Writer)
}

// Command returns the command.
func Command(t Tools) *cli.Command {
	return &cli.Command{Name: "draft", ArgsUsage: "CHECKPOINT",
		Usage: "a graph text of a state dict: layers, shapes and batch norms, in the order of the file",
		Description: `Writes the layers of a checkpoint as a graph: each layer reads the value before it if
the channels fit, and a ? marks what the file does not decide. You add the parts without
weights, such as relu and pooling, the strides and the wiring; then

   bnctl models draft net.pth --input 3,32,32 -o net.graph
   bnctl train --model net.graph --init net.pth --preprocess imagenet --data folder:photos -o net.bnm`,
		Flags: append([]cli.Flag{&cli.StringFlag{Name: "output", Aliases: []string{"o"},
			DefaultText: "standard output", Usage: "`FILE` to write: .graph"}}, t.Flags...), Action: t.run}
}

func (t Tools) run(c *cli.Context) error {
	path, err := t.Argument(c, "CHECKPOINT", "a state dict, of PyTorch or safetensors")
	if err != nil {
		return err
	}
	options, err := t.Options(c)
	if err != nil {
		return err
	}
	input := options.Input
	options.Input = nil // this is the input of the draft, not of the file
	f, err := modelfile.OpenForeign(path, options)
	if err != nil {
		return err
	}
	defer f.Close()
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	d, err := draft.Of(f, name, input)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	note, stdout := t.Output(c)
	note("%s", d.Summary(path))
	write := func(w io.Writer) error {
		_, err := io.WriteString(w, d.Text)
		return err
	}
	if out := c.String("output"); out != "" {
		return regular.WriteFile(out, 0o666, write)
	}
	return write(stdout)
}
