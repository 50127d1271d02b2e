package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// predictionWriter writes predictions, input by input.
type predictionWriter interface {
	// write writes the outputs of the model for one input.
	write(input string, outputs []tensor.Tensor) error
	// end comes after the last input.
	end() error
}

// predictions is what all forms share.
type predictions struct {
	model  *models.Model
	top    int
	raw    bool // outputs as they are
	inputs int
	out    *bufio.Writer
}

// newPredictionWriter returns the writer of --format, for the inputs of src.
func newPredictionWriter(c *cli.Context, m *models.Model, src data.Source) (predictionWriter, error) {
	p := predictions{model: m, top: c.Int("top"), raw: c.Bool("logits") || !classifies(m),
		inputs: src.Info().Len, out: bufio.NewWriter(c.App.Writer)}
	if p.top < 1 {
		return nil, misuse("--top %d: want at least 1", p.top)
	}
	format := c.String("format")
	if c.Bool("json") {
		if c.IsSet("format") && format != "json" {
			return nil, misuse("--json and --format %s contradict each other; give one of them", format)
		}
		format = "json"
	}
	switch format {
	case "json":
		return &jsonPredictions{p, &output{stdout: p.out, json: true}}, nil
	case "csv":
		return &csvPredictions{p, csv.NewWriter(p.out), false}, nil
	case "table":
		return &tablePredictions{p, nameWidth(src)}, nil
	case "npy":
		return &npyPredictions{predictions: p}, nil
	}
	formats := []string{"json", "csv", "table", "npy"}
	return nil, misuse("--format %q%s: want one of %s", format, nearest(format, formats),
		strings.Join(formats, ", "))
}

// nameWidth returns the width of the longest name of the first inputs, 40 at most.
func nameWidth(src data.Source) int {
	const looked, widest = 1000, 40
	w := 0
	for i := range min(src.Info().Len, looked) {
		w = max(w, len([]rune(src.Name(i))))
	}
	return min(w, widest)
}

// class is one class of a prediction.
type class struct {
	Label string       `json:"label"`
	Index int          `json:"index"`
	P     train.Figure `json:"p"`
}

// best returns the classes with the highest probabilities, the first of equals first.
func (p *predictions) best(row tensor.Tensor) []class {
	all := scores(p.model, row.F32())
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case all[a] > all[b]:
			return -1
		case all[a] < all[b]:
			return 1
		}
		return 0
	})
	var top []class
	for _, i := range order[:min(p.top, len(order))] {
		top = append(top, class{labelOf(p.model, i), i, train.Figure(all[i])})
	}
	return top
}

// outputName returns the name of output i of the model.
func (p *predictions) outputName(i int) string { return p.model.Graph.Main.Outputs[i].Name }

func (p *predictions) end() error { return p.out.Flush() }

// words writes the elements of a tensor with all their digits.
func words(t tensor.Tensor) []string {
	s := make([]string, t.Count())
	for i := range s {
		switch t.DType {
		case tensor.F32:
			s[i] = strconv.FormatFloat(float64(t.F32()[i]), 'g', -1, 32)
		case tensor.F64:
			s[i] = strconv.FormatFloat(t.F64()[i], 'g', -1, 64)
		case tensor.I32:
			s[i] = strconv.Itoa(int(t.I32()[i]))
		case tensor.I64:
			s[i] = strconv.FormatInt(t.I64()[i], 10)
		default:
			s[i] = strconv.Itoa(int(t.Bytes[i]))
		}
	}
	return s
}

// tableElements is how many elements of an output a line of text shows whole;
// of more it shows tableFirst, after their type and shape.
const tableElements, tableFirst = 20, 4

// shortened writes an output for a person: "logits 0.5 -1.25", and of a large one
// "mask f32[21,64,64] 0.5 -1.25 0 1 ...".
func shortened(name string, t tensor.Tensor) string {
	if t.Count() <= tableElements {
		return name + " " + strings.Join(words(t), " ")
	}
	first := tensor.Tensor{DType: t.DType, Shape: []int{tableFirst}, Bytes: t.Bytes[:tableFirst*t.DType.Size()]}
	return fmt.Sprintf("%s %s %s ...", name, tensor.Describe(t.DType, t.Shape), strings.Join(words(first), " "))
}

// tablePredictions writes a line of text for each input.
type tablePredictions struct {
	predictions
	width int
}

func (w *tablePredictions) write(input string, outs []tensor.Tensor) error {
	var cells []string
	if !w.raw {
		for _, k := range w.best(outs[0]) {
			cells = append(cells, fmt.Sprintf("%s %.1f %%", k.Label, 100*k.P))
		}
	} else {
		for i, o := range outs {
			cells = append(cells, shortened(w.outputName(i), o))
		}
	}
	_, err := fmt.Fprintf(w.out, "%-*s  %s\n", w.width, input, strings.Join(cells, "   "))
	return err
}
