package devicetest

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

type values = []graph.Value

// chain is a program of a few nodes. A device may fuse the nodes, or let values share memory,
// but this must not change the results.
type chain struct {
	name  string
	build func(c *chainBuilder)
	tol   bound
}

// chainBuilder makes the operands, nodes and outputs of a chain.
type chainBuilder struct {
	*graph.Builder
	*setting
	draws tensor.Draws
	count int
}

// operand declares an operand.
func (c *chainBuilder) operand(o operand) graph.Value {
	c.count++
	return c.declare(c.Builder, fmt.Sprintf("x%d", c.count), o, &c.draws)
}

// do appends a node. pairs are attribute keys and values in turn.
func (c *chainBuilder) do(o graph.Op, operands []graph.Value, pairs ...any) graph.Value {
	c.count++
	return c.Op(o, fmt.Sprintf("y%d", c.count), operands, pairs...)
}

// out makes values outputs.
func (c *chainBuilder) out(values ...graph.Value) {
	for _, v := range values {
		c.count++
		c.Output(fmt.Sprintf("out%d", c.count), v, false)
	}
}

func (c chain) setting() (*setting, error) {
	s := newSetting("chain", c.tol)
	b := &chainBuilder{Builder: graph.NewBuilder(s.function, &s.program.State), setting: s}
	b.draws = tensor.NewPhilox(5, tensor.StreamInit).Draws(0, 0)
	c.build(b)
	f, err := b.Function()
	if err != nil {
		return nil, fmt.Errorf("chain %s: %w", c.name, err)
	}
	s.program.Functions = []*graph.Function{f}
	return s, nil
}

func (c chain) program() (*graph.Program, error) {
	s, err := c.setting()
	if err != nil {
		return nil, err
	}
	return s.program, nil
}

func chainCases() []Case {
	var cases []Case
	for _, c := range chains {
		cases = append(cases, newCase("chain: "+c.name,
			"A device fuses inside, as a function of program and kernel class only (docs/numerics.md, section 4).",
			c.program, judged(c.setting)))
	}
	return cases
}
