package recipe

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// CheckAuxiliary refuses a weight for the loss of an auxiliary head if g has no auxiliary head. It also
// refuses a missing weight if g has an auxiliary head that would not be trained.
func (r *Recipe) CheckAuxiliary(g *graph.Graph, trained []string) error {
	is := func(o graph.Output) bool { return graph.IsAuxiliary(o.Name) }
	has := slices.ContainsFunc(g.Main.Outputs, is)
	switch {
	case r.AuxWeight == 0 && has:
		return untrainedAuxiliary(g, trained)
	case r.AuxWeight == 0 || has:
		return nil
	}
	return problem.Failure("aux-weight", "model "+g.Name+" has no output "+graph.Auxiliary,
		"start from a model of the zoo that has an auxiliary head, or leave it out")
}

// untrainedAuxiliary refuses an auxiliary head without a weight for its loss, unless all of it is frozen.
func untrainedAuxiliary(g *graph.Graph, trained []string) error {
	answers, err := g.WithoutAuxiliary()
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, s := range answers.State {
		used[s.Name] = true
	}
	for _, name := range trained {
		if !used[name] {
			return problem.Failure("aux-weight", fmt.Sprintf("model %s has the output %s, an auxiliary head, and %s "+
				"influences nothing else: without a weight for its loss nothing trains it", g.Name, graph.Auxiliary,
				name),
				"give one, for example {aux-weight} 0.4, or {freeze} the head")
		}
	}
	return nil
}

// CheckDecay refuses a model for a new run if its batch norms would keep their running statistics
// unchanged (decay 1), unless r intends to keep them or estimates them again. The error is a
// *problem.Error about the option model.
func (r *Recipe) CheckDecay(m *models.Model) error {
	if r.BN == bn.Frozen || r.BNPrecise > 0 {
		return nil
	}
	f := m.Graph.Main
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.Op == graph.BatchNorm && n.Float("decay") == 1 && !n.Bool("cumulative") {
			return problem.New("model", "", fmt.Sprintf("batch norm %s of model %s has decay 1: training would never "+
				"move its running statistics", f.NodeName(n), m.Architecture),
				"write a decay below 1, for example 0.9, into the graph as text, or keep them with {bn} frozen")
		}
	}
	return nil
}

// Fits refuses, before the first step, data that m cannot be trained on, or validation data, unless
// nil, that it cannot be evaluated on: samples that are not its input, labels that are not classes of
// its first output. The error is a *problem.Error about the option data or val.
func Fits(m *models.Model, training, validation data.Source) error {
	if training == nil {
		return noData()
	}
	if err := fits("data", m, training.Info()); err != nil || validation == nil {
		return err
	}
	if _, err := Classed(training, validation); err != nil {
		return err
	}
	return fits("val", m, validation.Info())
}

// Classed returns validation data with the labels of the training data, which has the classes of the
// model. Classes are matched by name, and may have no samples. A class that training does not have is
// a *problem.Error about the option val.
func Classed(training, validation data.Source) (data.Source, error) {
	known, info := training.Info().Classes, validation.Info()
	if t := training.Info(); t.Boxes != info.Boxes || t.MultiLabel != info.MultiLabel ||
		!slices.Equal(t.Targets, info.Targets) {
		return nil, problem.Failure("val", "its labels are of another kind than the labels of {data}",
			"name data with the same columns")
	}
	if len(known) == 0 || len(info.Classes) == 0 || slices.Equal(known, info.Classes) {
		return validation, nil // two classes may have the same name, as ImageNet's crane, which cannot be matched
	}
	k, err := models.MatchClasses(known, len(known), info.Kind, info.Classes)
	if err != nil {
		return nil, problem.Failure("val", fmt.Sprintf("the classes differ: {data} has %s, {val} has %s",
			models.ClassList(known), models.ClassList(info.Classes)), "use two splits of one data set")
	}
	return data.Relabel(validation, k.To, known), nil
}

func fits(field string, m *models.Model, info data.Info) error {
	if err := m.CheckOneInput("training needs a model with one input"); err != nil {
		return err
	}
	refuse := func(advice, format string, args ...any) error {
		return problem.Failure(field, fmt.Sprintf(format, args...), advice)
	}
	if info.Len < 1 {
		return problem.New(field, "", info.Kind+" has no samples", "")
	}
	in := m.Input()
	wants, is := tensor.Describe(in.DType, in.Shape), tensor.Describe(info.DType, info.Shape)
	switch {
	case info.Pictures() && (in.DType != tensor.U8 || len(in.Shape) != 3): // any size fits: pictures are scaled
		return refuse("give arrays as .npy", "the model takes arrays %s, the samples are pictures", wants)
	case !info.Pictures() && (info.DType != in.DType || !slices.Equal(info.Shape, in.Shape)):
		advice := ""
		if s, ok := m.SizeOf(info.Shape); ok && info.DType == in.DType {
			advice = "make the model for them with {size} " + s.Sides()
		}
		return refuse(advice, "the model takes %s, a sample of %s is %s", wants, info.Kind, is)
	case !info.Labelled:
		return refuse("", "the samples of %s have no labels", info.Kind)
	}
	f := m.Graph.Main
	out, name := f.Values[f.Outputs[0].Value].Type, f.Outputs[0].Name
	if len(out.Shape) == 0 {
		return refuse("", "output %s of model %s is one number per sample; labels need classes", name,
			m.Architecture)
	}
	if _, detects := m.DetectedClasses(); detects || info.Boxes {
		return fitsBoxes(refuse, m, info)
	}
	if info.MultiLabel || info.Targets != nil {
		return fitsElements(field, m, info)
	}
	label := info.LabelShape
	if info.Masks {
		label = in.Shape[:2] // masks are scaled and cropped like their pictures
	}
	if want := out.Shape[1:]; !slices.Equal(label, want) {
		advice := ""
		if info.Masks && len(want) == 0 {
			advice = "use a model that gives each pixel a class, for example unet-bn"
		}
		return refuse(advice, "output %s of model %s is %v: a label has to be %s, those of %s are %s", name,
			m.Architecture, out, tensor.Describe(tensor.I32, want), info.Kind,
			tensor.Describe(tensor.I32, label))
	}
	if classes := len(info.Classes); classes > out.Shape[0] {
		return refuse(fmt.Sprintf("make a new head with {classes} %d", classes),
			"%s has %s, model %s has %d", info.Kind, problem.Plural(classes, "class"), m.Architecture,
			out.Shape[0])
	}
	return nil
}

// fitsBoxes refuses boxes for a model that is no detector, other labels for a detector, and a detector with
// fewer classes than the data.
func fitsBoxes(refuse func(advice, format string, args ...any) error, m *models.Model, info data.Info) error {
	have, detects := m.DetectedClasses()
	switch {
	case !info.Boxes:
		return refuse("use data with boxes: voc:, coco: or yolo:",
			"model %s predicts boxes, and the labels of %s are not boxes", m.Architecture, info.Kind)
	case !detects:
		return refuse("use a detector, for example yolox-nano",
			"the labels of %s are boxes, and model %s does not predict boxes", info.Kind, m.Architecture)
	case len(info.Classes) > have:
		return refuse(fmt.Sprintf("make a new head with {classes} %d", len(info.Classes)),
			"%s has %s, model %s has %d", info.Kind, problem.Plural(len(info.Classes), "class"), m.Architecture, have)
	}
	return nil
}

// fitsElements refuses a model unless it has one answer for each label, if labels do not exclude each
// other, or for each number.
func fitsElements(field string, m *models.Model, info data.Info) error {
	f := m.Graph.Main
	out := f.Values[f.Outputs[0].Value].Type
	n, what := len(info.Classes), "label"
	if info.Targets != nil {
		n, what = len(info.Targets), "number"
	}
	op, _ := f.OutputOp(0)
	fits := len(out.Shape) == 1 && (out.Shape[0] == n || info.Targets == nil && out.Shape[0] > n)
	if fits && op != graph.Softmax && op != graph.LogSoftmax {
		return nil
	}
	text := fmt.Sprintf("%s has %s for each sample, and output %s of model %s is %v", info.Kind,
		problem.Plural(n, what), f.Outputs[0].Name, m.Architecture, out)
	if fits {
		text += " and ends in a softmax, which has classes that exclude each other"
	}
	return problem.Failure(field, text, fmt.Sprintf("make a new head with {classes} %d", n))
}
