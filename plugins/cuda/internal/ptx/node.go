package ptx

import (
	"fmt"
	"strings"
)

// A node is a sequence of instructions without branches, and the way it ends.
type node struct {
	ops   []op
	line  int // line of the instruction that ends it
	end   flow
	guard int // the register that a branch tests
	not   bool
	label string
	to    int // number of the node to which the branch goes
}

type flow int

const (
	falls   flow = iota // continues with the next node
	jumps               // continues with the node in field to
	forks               // continues with the node in field to if the guard is true, else with the next
	waits               // waits at the barrier
	returns             // ends the thread
)

// op is an instruction. Run computes it for the lanes of a block.
type op struct {
	line          int
	reads, writes []int
	run           func(b *block, lanes []int32)
}

// statement adds a statement, which is an instruction or a label.
func (c *compiler) statement(st statement) error {
	if label, ok := strings.CutSuffix(st.op, ":"); ok {
		c.labels[label] = len(c.nodes)
		c.begin()
		return nil
	}
	if !c.open {
		c.begin()
	}
	n := &c.nodes[len(c.nodes)-1]
	n.line = st.line
	switch st.op {
	case "bra", "bra.uni":
		return c.branch(n, st)
	case "ret":
		return c.finish(n, returns, st, 0)
	case "bar.sync":
		return c.finish(n, waits, st, 1)
	}
	o, err := c.instruction(st)
	n.ops = append(n.ops, o)
	return err
}

func (c *compiler) begin() {
	c.nodes = append(c.nodes, node{})
	c.open = true
}

func (c *compiler) branch(n *node, st statement) (err error) {
	n.end, n.label, c.open = jumps, st.args[0], false
	if st.guard != "" {
		n.end, n.not = forks, st.not
		n.guard, err = c.operand(st.guard, 1)
	}
	return err
}

// finish ends a node with st, an instruction that cannot have a guard.
func (c *compiler) finish(n *node, end flow, st statement, args int) error {
	n.end, c.open = end, false
	switch {
	case st.guard != "":
		return fmt.Errorf("a guard stands before branches only")
	case len(st.args) != args || args == 1 && st.args[0] != "0":
		return fmt.Errorf("operands %v: barrier 0 with all threads is the one there is", st.args)
	}
	return nil
}

// link sets the target nodes of branches.
func (c *compiler) link() error {
	if c.open || len(c.nodes) == 0 {
		return fmt.Errorf("ptx: %s ends without ret", c.Name)
	}
	for i := range c.nodes {
		n := &c.nodes[i]
		if n.label == "" {
			continue
		}
		to, ok := c.labels[n.label]
		if !ok {
			return fmt.Errorf("ptx: line %d: there is no label %s", n.line, n.label)
		}
		n.to = to
	}
	return nil
}
