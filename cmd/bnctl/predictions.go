package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// predictionWriter writes predictions, input by input.
type predictionWriter interface {
	// write writes the outputs of the model for one input.
	write(input string, outputs []tensor.Tensor) error
	// end comes after the last input.
	end() error
}

// predictions is what is written of a model's outputs, whatever the format.
type predictions struct {
	*predict.Answers
	format string
	inputs int
}

// newPredictions reads the flags for so many inputs.
func newPredictions(c *cli.Context, m *models.Model, inputs int) (*predictions, error) {
	p := &predictions{inputs: inputs}
	var err error
	if p.format, err = predictionFormat(c); err != nil {
		return nil, err
	}
	o := predict.AnswerOptions{Logits: c.Bool("logits"), Task: c.String("task"), Top: c.Int("top")}
	if list := c.String("only"); list != "" {
		o.Only = strings.Split(list, ",")
	}
	if p.Answers, err = predict.NewAnswers(m, o); err != nil {
		return nil, err
	}
	if p.Unsaid {
		outputOf(c).note("%s is written as it is: nothing says that it is logits of classes. If it is, "+
			"add --task classify; strip --labels makes a template that says so", p.Name(p.Scores))
	}
	return p, p.checkFiles(c)
}

func predictionFormat(c *cli.Context) (string, error) {
	format := c.String("format")
	if c.Bool("json") {
		if c.IsSet("format") && format != "json" {
			return "", misuse("--json and --format %s contradict each other; give one of them", format)
		}
		return "json", nil
	}
	formats := []string{"json", "csv", "table", "npy"}
	if !slices.Contains(formats, format) {
		return "", misuse("--format %q%s: want one of %s", format, nearest(format, formats),
			strings.Join(formats, ", "))
	}
	return format, nil
}

// class is one class of a prediction, as JSON has it.
type class struct {
	Label string `json:"label"`
	Index int    `json:"index"`
	P     share  `json:"p"`
}

// share is a probability. In JSON it is null if it is not finite.
type share float32

func (s share) String() string { return strconv.FormatFloat(float64(s), 'g', -1, 32) }

// MarshalJSON implements json.Marshaler.
func (s share) MarshalJSON() ([]byte, error) {
	if s-s != 0 {
		return []byte("null"), nil
	}
	return []byte(s.String()), nil
}

// best returns the classes with the highest probabilities, the first of equals first.
func (p *predictions) best(outs []tensor.Tensor) (top []class) {
	for _, k := range p.Best(outs) {
		top = append(top, class{k.Label, k.Index, share(k.P)})
	}
	return top
}

// nameWidth returns the width of the longest name of the first inputs, 40 at most.
func nameWidth(src data.Source) int {
	const looked, widest = 1000, 40
	w := 0
	for i := range min(src.Info().Len, looked) {
		w = max(w, len([]rune(legible(src.Name(i)))))
	}
	return min(w, widest)
}

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
