package onnx

import (
	"fmt"
	"strings"
)

// attributeSpec is what is known of an operator's attributes and operands, in all
// operator sets that are read. A node with anything else is refused: what is
// not known could change the answer.
type attributeSpec struct {
	operands int // at most; manyOperands for a list
	// honoured attributes are read; of some the values that have no
	// counterpart are refused, each by a sentence of its own.
	honoured string
	// irrelevant attributes change no answer of what is supported.
	irrelevant string
}

const manyOperands = 1 << 16

// check refuses a node that says what is not known of its operator.
func (k attributeSpec) check(c *Node) error {
	if n := len(c.n.Input); n > k.operands {
		return fmt.Errorf("has %d operands; %d are known", n, k.operands)
	}
	for _, a := range c.n.Attribute {
		if !listed(k.honoured, a.Name) && !listed(k.irrelevant, a.Name) {
			return fmt.Errorf("has an attribute %.80q, which is not known: what it asks for is not supported", a.Name)
		}
	}
	return nil
}

func listed(names, name string) bool {
	return strings.Contains(" "+names+" ", " "+name+" ") && name != "" && !strings.Contains(name, " ")
}
