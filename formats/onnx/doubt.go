package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/graph"
)

// doubt is a constant that may be a parameter. Neither its name nor its use decides the question.
type doubt struct{ name, why string }

const (
	noMark   = "stays constant: neither its name nor its use marks it as a parameter"
	partOf   = "stays constant: the graph has only what is computed from it"
	noName   = "is trained under this name: its own is not in the file, because the exporter folded it"
	keepName = "torch.onnx.export(..., training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False) " +
		"keeps it"
)

// doubt records operand i if it may be a parameter: a constant that a node adds, multiplies
// or concatenates.
func (c *call) doubt(i int) {
	name, t := c.originOf(c.Proto.Input[i]).name, c.In[i].Tensor
	buffer := c.sourceOf(name) == fromBuffers
	if !c.forTraining || c.isLifted(i) || buffer || c.atInput() || !element.IsFloat(t.DType) || t.Count() < 2 ||
		isUniform(t) || isMask(t) {
		return
	}
	c.doubtful = append(c.doubtful, doubt{name, noMark})
}

// findDoubtful lists the constants that may be parameters, and parameters without a name.
func (r *reader) findDoubtful() {
	if !r.forTraining {
		return
	}
	state := map[string]graph.Role{} // keys are names in the file
	for _, s := range r.table {
		form := r.forms[s.Name]
		state[form.name] = s.Role
		if s.Role.Trained() && r.fromTorch && numbered.MatchString(form.name) {
			r.file.Find(form.name, noName, keepName)
		}
	}
	var told []string
	for _, d := range r.doubtful {
		label := r.labels[d.name]
		if state[d.name].Trained() || slices.Contains(told, d.name) || label == "" {
			continue
		}
		told = append(told, d.name)
		r.file.Find(label, d.why, "{train-tensors} "+label+" trains it")
	}
	for _, t := range r.file.Tensors {
		_, there := state[t.Name]
		if !there && r.fromTorch && r.initial[t.Name] && isParameterName(t.Name) && element.IsFloat(t.DType) &&
			!isBufferName(t.Name) {
			r.file.Find(t.Name, partOf, "")
		}
	}
}
