// Package answer turns the outputs of a model into answers: classes with probabilities, labels
// that hold, or numbers. Answers is the rule, which all programs of bnctl follow.
//
// Use it with outputs from package predict or inprocess.
package answer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Options select outputs of a model, and their form.
type Options struct {
	Only   []string // names of outputs, in this order; nil: all
	Logits bool     // unchanged outputs, never classes
	// Task "classify" declares that the output is logits of classes, without other
	// evidence. "" leaves it to the model.
	Task string
	Top  int // number of classes that Best returns: at least 1
}

// Answers is the rule that makes answers of a model's outputs: classes with
// probabilities if models.Model.Answer finds classes, else unchanged numbers.
type Answers struct {
	Model  *models.Model
	Chosen []int // outputs that are given, by number, in the order of Options.Only
	Raw    bool  // outputs are given unchanged
	// AmbiguousLogits means that the output has the shape of logits of classes, but neither Options.Task nor
	// labels confirm that it holds logits.
	AmbiguousLogits bool
	Answer          models.Answer // meaning of the numbers of the output: logits, probabilities ...
	Scores          int           // the output that Answer is about, by number, if not Raw
	Top             int           // number of classes that Best returns
}

// New returns the rule, before anything is computed. The error is a *problem.Error
// of only, task or top.
func New(m *models.Model, o Options) (*Answers, error) {
	a := &Answers{Model: m, Top: o.Top}
	if a.Top < 1 {
		return nil, problem.New("top", strconv.Itoa(a.Top), "want at least 1", "")
	}
	var err error
	if a.Chosen, err = chosen(m, o.Only); err != nil {
		return nil, err
	}
	return a, a.decide(o)
}

// chosen returns the numbers of the named outputs, or of all outputs without names.
func chosen(m *models.Model, requested []string) (outputs []int, err error) {
	var names []string
	for i, o := range m.Outputs() {
		names, outputs = append(names, o.Name), append(outputs, i)
	}
	if requested == nil {
		return outputs, nil
	}
	outputs = nil
	for _, name := range requested {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, &problem.Error{Field: "only", Value: strconv.Quote(name), Known: names,
				Text: "the model has " + strings.Join(names, ", ")}
		}
		if slices.Contains(outputs, i) {
			return nil, problem.New("only", "", "names "+name+" twice", "")
		}
		outputs = append(outputs, i)
	}
	return outputs, nil
}

// decide finds out whether there are classes, by models.Model.Answer unless the options
// determine it.
func (a *Answers) decide(o Options) error {
	a.Scores = a.Chosen[0]
	if computed := a.Computed(); len(computed) > 0 {
		var inGraph []int
		for _, k := range computed {
			inGraph = append(inGraph, a.inGraph(k))
		}
		answer, scores := a.Model.Answer(inGraph...)
		a.Answer, a.Scores = answer, computed[slices.Index(inGraph, scores)]
	}
	switch {
	case o.Task == "":
	case o.Task != "classify":
		return problem.New("task", strconv.Quote(o.Task), "want classify", "")
	case o.Logits:
		return problem.New("task", o.Task, "contradicts {logits}", "give one of them")
	case a.Answer == models.Values:
		return a.classify()
	}
	a.Raw = o.Logits || a.Answer == models.Values || a.Answer == models.Boxes
	a.AmbiguousLogits = a.Answer == models.Values && !o.Logits && len(a.Computed()) == 1 &&
		a.Model.Scores(a.inGraph(a.Scores)) && a.Model.EndsWithProduct(a.inGraph(a.Scores))
	return nil
}

// classify treats the output as logits because the options declare it. Nothing in the model confirms it.
func (a *Answers) classify() error {
	f := a.Model.Graph.Main
	refuse := func(text, advice string) error { return problem.New("task", "classify", text, advice) }
	switch {
	case a.Model.Tail != nil:
		return refuse("the model is a detector, and the host computes its outputs", "")
	case len(a.Computed()) > 1:
		return refuse("the model has "+problem.Plural(len(a.Computed()), "output"),
			"name the output of the classes with {only}")
	case !a.Model.Scores(a.inGraph(a.Scores)):
		t := a.Type(a.Scores)
		return refuse(fmt.Sprintf("output %s is %s for each sample, not one number for each class",
			a.Name(a.Scores), tensor.Describe(t.DType, t.Shape)), "")
	}
	if op, _ := f.OutputOp(a.inGraph(a.Scores)); op != 0 {
		return refuse(fmt.Sprintf("output %s ends in %v, so its numbers are not logits", a.Name(a.Scores), op), "")
	}
	a.Answer = models.Logits
	return nil
}

// KeepLogits leaves out one of two outputs if it is the softmax of the other, so that Answer is
// models.Probabilities. It reports whether it left out an output.
func (a *Answers) KeepLogits() bool {
	if a.Answer != models.Probabilities {
		return false
	}
	a.Chosen = slices.DeleteFunc(slices.Clone(a.Chosen), func(k int) bool { return k == a.Scores })
	return true
}

// inGraph returns which output of the graph output k of the model is.
func (a *Answers) inGraph(k int) int { return a.Model.Outputs()[k].Of }

// Name returns the name of output k of the model.
func (a *Answers) Name(k int) string { return a.Model.Outputs()[k].Name }

// Type returns the type of output k of the model, for a sample, in its file.
func (a *Answers) Type(k int) graph.Type { return a.Model.Outputs()[k].Type }

// Computed returns the chosen outputs, without outputs that are the argmax of another
// output.
func (a *Answers) Computed() (computed []int) {
	outputs := a.Model.Outputs()
	for _, k := range a.Chosen {
		if !outputs[k].Picked && !outputs[k].Hosted {
			computed = append(computed, k)
		}
	}
	return computed
}

// Names returns the names of outputs of the model, given by number.
func (a *Answers) Names(outputs []int) (names []string) {
	for _, k := range outputs {
		names = append(names, a.Name(k))
	}
	return names
}

// Probabilities returns a probability for each class, from all outputs of the model for a sample: the
// output itself, the softmax of logits, the two classes of one sigmoid, or the sigmoids of labels
// that do not exclude each other. Numbers are returned unchanged. The answers must not be Raw. If
// Best returns an error for outs, the result has infinite or NaN elements.
func (a *Answers) Probabilities(outs []tensor.Tensor) []float32 {
	row := outs[a.Scores].F32()
	switch a.Answer {
	case models.Binary:
		return []float32{float32(1 - float64(row[0])), row[0]}
	case models.Logits:
		return softmax(row)
	case models.LabelLogits:
		return sigmoids(row)
	}
	return row
}

// softmax returns the softmax of logits, computed in float64 and rounded once.
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

// SoftmaxOfPixels returns the probabilities of the classes of each pixel, f32
// [C,H,W] as their logits are.
func SoftmaxOfPixels(logits tensor.Tensor) tensor.Tensor {
	out := tensor.New(tensor.F32, logits.Shape...)
	row, pixels := make([]float32, logits.Shape[0]), tensor.Count(logits.Shape[1:])
	for at := range pixels {
		for c := range row {
			row[c] = logits.F32()[c*pixels+at]
		}
		for c, p := range softmax(row) {
			out.F32()[c*pixels+at] = p
		}
	}
	return out
}

// Class is one class of a prediction.
type Class struct {
	Label string  // name: see Label
	Index int     // number, from 0
	P     float32 // probability
}

// Best returns the Top classes with the highest probabilities. outs are all outputs of the model for a
// sample. Classes with equal probabilities are in the order of their numbers. The error is a *NotFinite.
func (a *Answers) Best(outs []tensor.Tensor) ([]Class, error) {
	if !models.HasArgmax(outs[a.Scores].F32()) {
		return nil, &NotFinite{a.Name(a.Scores)}
	}
	all := a.Probabilities(outs)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int {
		switch {
		case all[i] > all[k]:
			return -1
		case all[i] < all[k]:
			return 1
		}
		return 0
	})
	var top []Class
	for _, i := range order[:min(a.Top, len(order))] {
		top = append(top, Class{Label(a.Model, i), i, all[i]})
	}
	return top, nil
}

// Label returns the name of class i of m for people: its label, or its number if m has no
// labels.
func Label(m *models.Model, i int) string {
	if i < len(m.Labels) {
		return m.Labels[i]
	}
	if len(m.Labels) > 0 {
		return fmt.Sprintf("output %d (no class)", i) // the model has more outputs than its training had classes
	}
	return fmt.Sprint(i)
}

// Classifies reports whether the first output of the graph of m is one score for each class.
func Classifies(m *models.Model) bool {
	t := m.Computed(0).Type
	return t.Kind == graph.Rows && t.DType == tensor.F32 && len(t.Shape) == 1
}
