package onnx

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"Loop": {attributes: accept(node.ManyOperands, "body"),
			refused:   "a number of rounds that is not constant; results that are collected, one of each round",
			structure: func(r *reader, n *onnxpb.NodeProto) error { return subgraphs{r}.loop(n) }},
	})
}

// A Loop is supported if constants, or the sizes of inputs, determine the number of its rounds. The
// nodes of its body then become nodes of the graph, once for each round.

const maxRounds = 4096 // rounds of one loop

// loop reads a Loop with a constant number of rounds, or with a condition that is constant
// in every round.
func (r subgraphs) loop(n *onnxpb.NodeProto) error {
	c, err := r.call(n)
	if err != nil {
		return err
	}
	a := c.Attribute("body")
	carried := len(n.Input) - 2
	if a == nil || a.G == nil || carried < 0 || len(a.G.Input) != carried+2 || len(a.G.Output) < carried+1 {
		return fmt.Errorf("has no body for %d operands", len(n.Input))
	}
	if len(n.Output) > carried || len(a.G.Output) != carried+1 {
		return fmt.Errorf("that collects a result of each round is not supported")
	}
	rounds, err := readRounds(c)
	if err != nil {
		return err
	}
	r.loops++
	now, going := n.Input[1:], true
	for i := 0; i < rounds && going; i++ {
		if r.unrolled += len(a.G.Node); i >= maxRounds || r.unrolled > decode.MaxNodes {
			return fmt.Errorf("of more than %d rounds, or of more than %d nodes in all, is not supported", maxRounds,
				decode.MaxNodes)
		}
		if now, err = r.round(a.G, i, now); err != nil {
			return fmt.Errorf("round %d: %w", i, err)
		}
		if going, err = r.holds(now[0]); err != nil {
			return err
		}
	}
	for i, out := range n.Output {
		if out == "" {
			continue
		}
		x, ok, err := r.operand(now[1+i])
		if err == nil && !ok {
			err = fmt.Errorf("nothing makes %.80q", now[1+i])
		}
		if err == nil {
			err = r.define(out, x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readRounds returns the maximum number of rounds. It is 0 if the first condition is false.
func readRounds(c *call) (int, error) {
	const refused = "whose number of rounds is computed from the input is not supported"
	most := int64(maxRounds) + 1
	if c.Has(0) {
		t := c.In[0]
		if !t.IsConstant() || t.IsSequence() {
			return 0, errors.New(refused)
		}
		at, err := element.Integers(t.Tensor)
		if err != nil || t.Tensor.Count() != 1 {
			return 0, fmt.Errorf("its number of rounds is %v, want one integer", t.Tensor)
		}
		most = max(0, at(0))
	}
	if c.Has(1) {
		if going, err := (subgraphs{c.reader}).holds(c.Proto.Input[1]); err != nil || !going {
			return 0, err
		}
	}
	return int(min(most, maxRounds+1)), nil
}

// holds reports whether a condition is true. The condition must be a constant;
// an absent one, "", is true.
func (r subgraphs) holds(name string) (bool, error) {
	if name == "" {
		return true, nil
	}
	x, ok, err := r.operand(name)
	switch {
	case err != nil:
		return false, err
	case !ok || !x.IsConstant() || x.IsSequence():
		return false, fmt.Errorf("whose condition is computed from the input is not supported")
	case x.Tensor.Count() != 1:
		return false, fmt.Errorf("its condition is %v, want one truth value", x.Tensor)
	}
	return x.Tensor.Bytes[0] != 0, nil
}

// round reads the nodes of a loop's body for one round. Before the round, the condition and the
// carried values have the given names. round returns their names after the round.
func (r subgraphs) round(body *onnxpb.GraphProto, i int, names []string) ([]string, error) {
	c := decode.FunctionCall{Names: map[string]string{"": ""}, Prefix: fmt.Sprintf("loop.%d.%d.", r.loops, i)}
	made := map[string]bool{}
	decode.Makes(body, made)
	for _, n := range body.Node {
		decode.EachInput(n, func(name string) {
			if !made[name] {
				c.Names[name] = name // defined outside of the loop
			}
		})
	}
	for _, o := range body.Output {
		if !made[o.Name] {
			c.Names[o.Name] = o.Name
		}
	}
	counter := c.Prefix + "\x00round"
	r.values[counter] = node.Constant(tensor.Of([]int64{int64(i)}))
	for k, in := range body.Input {
		if k == 0 {
			c.Names[in.Name] = counter
		} else {
			c.Names[in.Name] = names[k-1]
		}
	}
	if len(names) > 0 && names[0] == "" { // the condition of the first round may be absent
		always := c.Prefix + "\x00always"
		r.values[always] = node.Constant(tensor.Of([]bool{true}))
		c.Names[body.Input[1].Name] = always
	}
	inside := &onnxpb.GraphProto{Node: c.Copies(body.Node)}
	for _, t := range body.Initializer {
		t = proto.Clone(t).(*onnxpb.TensorProto) // reading a tensor removes its elements
		t.Name = c.Name(t.Name)
		inside.Initializer = append(inside.Initializer, t)
	}
	if err := r.subgraph(inside); err != nil {
		return nil, err
	}
	var next []string
	for _, o := range body.Output {
		next = append(next, c.Name(o.Name))
	}
	return next, nil
}
