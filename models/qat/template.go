// Package qat has the last step of quantisation-aware training: a model with weights that are trained for
// int8 (models.Model.TrainsInt8) becomes an int8 template with the same logits.
//
// Use it to make the template of a model in memory. Package serialize does it for checkpoints, and
// package modelfile/quantize makes the model to train.
package qat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// By is the value of the field models.Quantised.By in templates of quantisation-aware training.
const By = "training"

// Template returns the int8 template of a model with weights that are trained in float32 for it:
// the result of each node quantize_weight becomes a stored tensor. The template has the logits of m
// to the bit. It returns any other model unchanged. The error names a layer with weights that bytes
// cannot represent.
func Template(m *models.Model) (*models.Model, error) {
	if !m.TrainsInt8() {
		return m, nil
	}
	f := &fixer{source: m, state: map[string]tensor.Tensor{}}
	f.Copier = graph.NewCopier(m.Graph.Main, graph.NewBuilder(m.Graph.Main.Name, &f.table))
	if err := f.copyAll(); err != nil {
		return nil, fmt.Errorf("int8 template of %s: %w", m.Architecture, err)
	}
	main, err := f.Builder.Function()
	if err != nil {
		return nil, err
	}
	out := *m
	out.Graph, out.State = &graph.Graph{Name: m.Graph.Name, State: f.table, Main: main}, f.state
	out.Quantised, out.Float = origin(m), nil
	return &out, out.Check()
}

// origin describes the float32 model that the training began with, as the recipe names it.
func origin(m *models.Model) *models.Quantised {
	var recipe struct {
		Init    string   `json:"init"`
		Numbers []string `json:"parts"`
	}
	const digits = 64 // hexadecimal digits of a SHA-256
	if json.Unmarshal(m.Recipe, &recipe) != nil || len(recipe.Init) != digits {
		return nil
	}
	i := slices.IndexFunc(recipe.Numbers, func(n string) bool { return strings.HasPrefix(n, "quantise/") })
	if i < 0 {
		return nil
	}
	return &models.Quantised{From: recipe.Init, By: By,
		Numbers: append(class.Numbered(class.Int8Class, device.F32), recipe.Numbers[i])}
}

// fixer copies a function, and computes its nodes quantize_weight.
type fixer struct {
	graph.Copier
	source *models.Model
	table  []graph.State
	state  map[string]tensor.Tensor
}

func (f *fixer) copyAll() error {
	f.Inputs()
	for i := range f.From.Nodes {
		n := &f.From.Nodes[i]
		if n.Op == graph.QuantizeWeight {
			if err := f.fix(n); err != nil {
				return fmt.Errorf("%s: %w", f.From.NodeName(n), err)
			}
			continue
		}
		for _, v := range n.In {
			if v != graph.None && f.From.Values[v].State != "" {
				f.keep(f.From.Values[v].State)
			}
		}
		f.Copy(n)
	}
	f.Outputs()
	return f.Builder.Err()
}

// keep declares a state tensor that other nodes read.
func (f *fixer) keep(name string) {
	i := slices.IndexFunc(f.source.Graph.State, func(s graph.State) bool { return s.Name == name })
	f.Builder.Declare(f.source.Graph.State[i])
	f.state[name] = f.source.State[name]
}

// fix declares the bytes of a weight, its bias and its factors.
func (f *fixer) fix(n *graph.Node) error {
	names := [2]string{f.From.Values[n.In[0]].State, f.From.Values[n.In[1]].State}
	weight, bias := f.source.State[names[0]], f.source.State[names[1]]
	out, s := bias.Count(), class.WeightsInt8Of(n)
	q, b := tensor.New(tensor.I8, weight.Shape...), tensor.New(tensor.I32, out)
	by, back := tensor.New(tensor.F32, out), make([]float32, weight.Count())
	per := weight.Count() / out
	for o := range out {
		at, end := o*per, (o+1)*per
		b.I32()[o], by.F32()[o] = s.Channel(tensor.View[int8](q)[at:end], back[at:end], weight.F32()[at:end],
			bias.F32()[o])
		if v := by.F32()[o]; !(v >= 0x1p-126 && v <= math.MaxFloat32) {
			return problem.Advise("use an earlier checkpoint, or train with a lower {lr}",
				"channel %d: a step of its sums is %g steps of its result", o, v)
		}
	}
	for i, t := range []tensor.Tensor{q, b, by} {
		role := []graph.Role{graph.Weight, graph.Bias, graph.Constant}[i]
		name := f.unused(cmp.Or(append(names[:], "")[i], byName(names[0])))
		f.state[name] = t
		f.To[n.Out[i]] = f.Builder.Declare(graph.State{Name: name, DType: t.DType, Shape: t.Shape, Role: role})
	}
	return f.Builder.Err()
}

// byName returns the name of the factors of a layer.
func byName(weight string) string {
	const suffix = ".weight"
	if n := len(weight) - len(suffix); n > 0 && weight[n:] == suffix {
		weight = weight[:n]
	}
	return weight + ".by"
}

// unused returns a name that no other tensor of the state has.
func (f *fixer) unused(name string) string {
	for _, taken := f.state[name]; taken; _, taken = f.state[name] {
		name += "_"
	}
	return name
}
