package onnx

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
)

func init() {
	register(operators{
		// consumed_inputs names buffers that may be overwritten
		"BatchNormalization": {
			attributes: accept(5, "epsilon is_test momentum spatial training_mode", "consumed_inputs"),
			refused:    "training mode, but in train; spatial=0", make: oneResult(batchNorm), traits: needsBatch},
	})
}

// batchNorm reads all versions: set 6 has is_test, sets 7 to 8 have spatial, and sets from 14 on
// have training_mode. Statistics are per channel. A node in training mode is accepted if the graph
// is to be trained. momentum is the weight of the old value in the running statistics.
func batchNorm(c *call) graph.Value {
	s := c.Shape(0)
	if isTraining(c) && !c.forTraining {
		c.Fail("%w", problem.Failure("", inTraining, evaluate))
	}
	if c.Opset < 9 && c.Int("spatial", 1) != 1 {
		c.Fail("with spatial=0, statistics per element, is not supported")
	}
	if len(s) == 0 {
		c.Fail("of a tensor without channels")
	}
	if c.Err != nil {
		return graph.None
	}
	variance := "unbiased"
	if c.biased {
		variance = "biased"
	}
	gamma, beta := c.roleInNorm(1, graph.Gamma), c.roleInNorm(2, graph.Beta)
	in := []graph.Value{c.Dynamic(0), c.state(1, gamma, s[0]), c.state(2, beta, s[0]),
		c.state(3, graph.Mean, s[0]), c.state(4, graph.Variance, s[0])}
	return c.node(graph.BatchNorm, "", in, "eps", shortest(c.Float("epsilon", 1e-5)),
		"decay", readDecay(c), "variance", variance)
}

// roleInNorm returns the role of gamma or beta, operand i. If the norm has no gamma or beta, the file
// has ones or zeros that are not initializers.
func (c *call) roleInNorm(i int, role graph.Role) graph.Role {
	if !c.Has(i) {
		return role
	}
	name, neutral := c.originOf(c.Proto.Input[i]).name, float32(2-i)
	if c.initial[name] && (!c.fromTorch || isParameterName(name)) ||
		!isFilled(c, i, c.In[i].Tensor.Count(), neutral) {
		return role
	}
	return graph.Constant
}

// defaultDecay is the standard's default for the momentum of a batch norm.
const defaultDecay = 0.9

// readDecay returns the weight of the old value in the running statistics. A weight of 1 counts as
// absent, because it would never change the statistics. Old versions of PyTorch wrote 1 for every
// model.
func readDecay(c *call) float64 {
	d := shortest(c.Float("momentum", defaultDecay))
	if d == 1 {
		return defaultDecay
	}
	if c.Err == nil && !(d >= 0 && d < 1) {
		c.Fail("its momentum is %v; the share of the old statistics that stays is at least 0 and less than 1", d)
	}
	return d
}

// isTraining reports whether a batch norm normalises by the current batch. From operator
// set 14 on this is the attribute training_mode. Before, a node in training mode has more
// than one result. In set 6 its attribute is_test is 0.
func isTraining(c *call) bool {
	if c.Opset >= 14 {
		return c.Int("training_mode", 0) != 0
	}
	return c.Opset < 7 && c.Int("is_test", 1) == 0 ||
		slices.ContainsFunc(c.Proto.Output[min(1, len(c.Proto.Output)):],
			func(name string) bool { return name != "" })
}

// norms lists the batch norms of the file, even if the graph is not supported, and finds those
// in training mode.
func (r *reader) norms(need []bool) {
	r.file.Norms = []foreign.BatchNorm{}
	listed, seen := map[string]bool{}, map[string]bool{}
	var still []string // layers with momentum 1
	for _, t := range r.file.Tensors {
		listed[t.Name] = true
	}
	for i, n := range r.src.Node {
		if !need[i] || decode.Operator(n) != "BatchNormalization" || len(n.Input) < 5 {
			continue
		}
		c := &call{reader: r, Node: r.nodeOf(n)}
		l := foreign.BatchNorm{Name: nodeName(n), Eps: shortest(c.Float("epsilon", 1e-5)),
			Decay: readDecay(c)}
		for k, field := range []*string{&l.Gamma, &l.Beta, &l.Mean, &l.Variance} {
			if name := n.Input[k+1]; listed[name] {
				*field = name
			}
		}
		if isTraining(c) && r.forTraining {
			r.inTraining = append(r.inTraining, l.Name)
		} else if isTraining(c) {
			r.file.Findings = append(r.file.Findings, foreign.Finding{Where: l.Name, Fault: true, Text: inTraining,
				Advice: evaluate})
		}
		if c.Float("momentum", defaultDecay) == 1 {
			still = append(still, l.Name)
		}
		if !seen[n.Input[3]] { // layers may share tensors
			seen[n.Input[3]] = true
			r.file.Norms = append(r.file.Norms, l)
		}
	}
	if len(r.inTraining) > 0 {
		r.file.Find(theseLayers(r.inTraining), "in the form of training: it is trained as it is, and predictions "+
			"use running statistics", "")
	}
	if len(still) > 0 {
		r.file.Find(theseLayers(still), fmt.Sprintf("momentum 1 would keep the running statistics of training as "+
			"they are; %g is taken, as where a file does not say it", defaultDecay), "")
	}
}

// theseLayers names the first of a list of layers, and gives the number of the others.
func theseLayers(layers []string) string {
	if n := len(layers) - 1; n > 0 {
		return fmt.Sprintf("%s and %s", layers[0], problem.Plural(n, "other batch norm"))
	}
	return layers[0]
}

// errTrains is the error for a dropout that was exported in training mode.
var errTrains = problem.Failure("", "is in training mode", evaluate)

const evaluate = "export the model after model.eval(), in evaluation mode"

const inTraining = "a batch norm in training mode: it normalises by the batch that it is given, not by its " +
	"running statistics, so that an answer depends on what else is in the batch"
