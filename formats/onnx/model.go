package onnx

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// model builds the model of package models: the graph with its weights.
func (r *reader) model() (*models.Model, error) {
	need := r.reached()
	r.unavailable = map[string]bool{}
	for _, v := range r.src.Input {
		_, given := r.values[v.Name]
		r.unavailable[v.Name] = !given
	}
	noInput := border{r}.input(need)
	if noInput == nil {
		clear(r.unavailable)
	}
	err := r.nodes(need)
	switch {
	case noInput != nil && err != nil:
		return nil, fmt.Errorf("%w; %w", noInput, err) // both, so that the user sees all that must be changed
	case cmp.Or(noInput, err) != nil:
		return nil, cmp.Or(noInput, err)
	}
	if err := r.outputs(); err != nil {
		return nil, err
	}
	r.findOtherFloats()
	if r.whole {
		r.file.Find(r.src.Input[0].Name, "the file computes along the first axis; here a sample is the whole "+
			"input, and the batch an axis before it", "")
	} else if r.shared.BatchAsAxis {
		r.file.Find(r.src.Input[0].Name, "the file fixes the batch to 1 and computes along its axis; here every "+
			"row is a batch of its own", "")
	}
	main, err := r.g.Function()
	if err == nil {
		main, err = graph.JoinNorms(main, r.table)
	}
	if err != nil {
		return nil, err
	}
	r.normRoles(main)
	r.findDoubtful()
	name := foreign.Clean(r.src.Name, "onnx")
	m := &models.Model{Architecture: name, Graph: &graph.Graph{Name: name, State: r.table, Main: main},
		State: r.state, FileTypes: r.types, FileTensors: r.fileTensors(),
		Fields: r.fields}
	if err := m.JoinActivations(); err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	if r.pixels {
		m = ofPixels(m)
	}
	if m.Input().DType == tensor.U8 {
		m.Preprocess = r.images
	}
	return m, nil
}

// nodes adds the needed nodes to the graph. It refuses all unsupported nodes in one error. If a node
// reads a refused result or input, only its operator and attributes are checked.
func (r *reader) nodes(need []bool) error {
	var all refusals
	for i, n := range r.src.Node {
		if !need[i] || r.done[i] {
			continue
		}
		var err error
		unavailable := slices.ContainsFunc(n.Input, func(name string) bool { return r.unavailable[name] })
		if unavailable {
			err = checkOperator(n)
		} else {
			err = r.node(n)
		}
		if err != nil {
			at, inFile := r.inTheFile(i, n)
			all.add(at, inFile, err)
			r.refused = append(r.refused, n)
		}
		for _, name := range n.Output {
			r.unavailable[name] = name != "" && (unavailable || err != nil)
		}
		if r.g.Err() != nil {
			break // the graph has the maximum number of nodes
		}
	}
	return all.error()
}

// checkOperator refuses a node with unknown operands.
func checkOperator(n *onnxpb.NodeProto) error {
	op := decode.Operator(n)
	o := table[op]
	if o.structure != nil {
		return nil // the input would decide which nodes run
	}
	if !o.isRead() {
		return unknown(op)
	}
	return o.attributes.Check(&node.Node{Proto: n})
}
