package graph

import "fmt"

// Comparisons are the values of the attribute "of" of Compare.
var Comparisons = []string{"equal", "not_equal", "greater", "greater_equal", "less", "less_equal"}

func inferCompare(c *inference) error {
	if err := c.oneOf("of", Comparisons...); err != nil {
		return err
	}
	if !c.has(1) {
		return inferUnary(c)
	}
	return inferBinary(c)
}

// inferWhere broadcasts two or three operands.
func inferWhere(c *inference) error {
	t, err := c.float(0)
	if err != nil {
		return err
	}
	for i := 1; i < len(c.node.In) && c.has(i); i++ {
		x := c.in(i)
		if x.DType != t.DType {
			return fmt.Errorf("operand %d is %v, operand 0 %v: want one type", i, x, c.in(0))
		}
		if t.Shape, err = Broadcast(t.Shape, x.Shape); err != nil {
			return err
		}
		t.Kind = max(t.Kind, x.Kind)
	}
	return c.yield(t.Kind, t.DType, t.Shape...)
}

func inferRound(c *inference) error {
	if err := c.oneOf("mode", "even", "floor", "ceil"); err != nil {
		return err
	}
	return inferUnary(c)
}
