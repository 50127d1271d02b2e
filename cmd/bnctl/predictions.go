package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
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
	model  *models.Model
	format string
	chosen []int // outputs, by number
	raw    bool  // they are written as they are
	answer models.Answer
	scores int // if not raw: the output that answer is about
	top    int
	inputs int
}

// newPredictions reads the flags for so many inputs.
func newPredictions(c *cli.Context, m *models.Model, inputs int) (*predictions, error) {
	p := &predictions{model: m, top: c.Int("top"), inputs: inputs}
	if p.top < 1 {
		return nil, misuse("--top %d: want at least 1", p.top)
	}
	var err error
	if p.format, err = predictionFormat(c); err != nil {
		return nil, err
	}
	if p.chosen, err = chosenOutputs(m, c.String("only")); err != nil {
		return nil, err
	}
	if err := p.decide(c); err != nil {
		return nil, err
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

// chosenOutputs returns the outputs of --only, by number; all without it.
func chosenOutputs(m *models.Model, list string) (chosen []int, err error) {
	var names []string
	for i, o := range m.Graph.Main.Outputs {
		names, chosen = append(names, o.Name), append(chosen, i)
	}
	if list == "" {
		return chosen, nil
	}
	chosen = nil
	for _, name := range strings.Split(list, ",") {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, misuse("--only %q%s: the model has %s", name, nearest(name, names), strings.Join(names, ", "))
		}
		if slices.Contains(chosen, i) {
			return nil, misuse("--only names %s twice", name)
		}
		chosen = append(chosen, i)
	}
	return chosen, nil
}

// decide finds whether there are classes to write: models.Model.Answer, unless
// the flags say it.
func (p *predictions) decide(c *cli.Context) error {
	p.answer, p.scores = p.model.Answer(p.chosen...)
	switch task := c.String("task"); {
	case task == "":
	case task != "classify":
		return misuse("--task %q: want classify", task)
	case c.Bool("logits"):
		return misuse("--task classify and --logits contradict each other; give one of them")
	case p.answer == models.Values:
		return p.classify()
	}
	p.raw = c.Bool("logits") || p.answer == models.Values
	if p.answer == models.Values && !c.Bool("logits") && len(p.chosen) == 1 && p.model.Scores(p.scores) &&
		p.model.Headed(p.scores) {
		outputOf(c).note("%s is written as it is: nothing says that it is logits of classes. If it is, "+
			"add --task classify; strip --labels makes a template that says so", p.outputName(p.scores))
	}
	return nil
}

// classify takes for logits what nothing else says to be.
func (p *predictions) classify() error {
	f := p.model.Graph.Main
	switch {
	case len(p.chosen) > 1:
		return misuse("--task classify: the model has %d outputs; name that of the classes with --only",
			len(p.chosen))
	case !p.model.Scores(p.scores):
		t := f.Values[f.Outputs[p.scores].Value].Type
		return misuse("--task classify: output %s is %s for each sample, not one number for each class",
			p.outputName(p.scores), tensor.Describe(t.DType, t.Shape))
	}
	if op, _ := f.Ending(p.scores); op != 0 {
		return misuse("--task classify: output %s ends in %v, so its numbers are no logits",
			p.outputName(p.scores), op)
	}
	p.answer = models.Logits
	return nil
}

// outputName returns the name of output i of the model.
func (p *predictions) outputName(i int) string { return p.model.Graph.Main.Outputs[i].Name }

// probabilities returns one for each class: those of the model's output, the
// softmax of its logits, or those of the two classes of one sigmoid.
func (p *predictions) probabilities(outs []tensor.Tensor) []float32 {
	row := outs[p.scores].F32()
	switch p.answer {
	case models.Binary:
		return []float32{float32(1 - float64(row[0])), row[0]}
	case models.Logits:
		return softmax(row)
	}
	return row
}

// softmax is computed in float64 and rounded once.
func softmax(logits []float32) []float32 {
	e, top, sum := make([]float64, len(logits)), float64(slices.Max(logits)), 0.0
	for i, v := range logits {
		e[i] = tensor.Exp(float64(v) - top)
		sum += e[i]
	}
	p := make([]float32, len(e))
	for i, v := range e {
		p[i] = float32(v / sum)
	}
	return p
}

// class is one class of a prediction.
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
func (p *predictions) best(outs []tensor.Tensor) []class {
	all := p.probabilities(outs)
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
		top = append(top, class{labelOf(p.model, i), i, share(all[i])})
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
