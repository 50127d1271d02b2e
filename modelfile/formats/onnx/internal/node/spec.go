package node

import (
	"fmt"
	"strings"
)

// Spec is what is known of an operator's attributes and operands, in all
// operator sets that are read. A node with anything else is refused: what is
// not known could change the answer.
type Spec struct {
	Operands int // at most; manyOperands for a list
	// Honoured attributes are read; of some the values that have no
	// counterpart are refused, each by a sentence of its own.
	Honoured string
	// Irrelevant attributes change no answer of what is supported.
	Irrelevant string
}

const ManyOperands = 1 << 16

// Check refuses a node that says what is not known of its operator.
func (k Spec) Check(c *Node) error {
	if n := len(c.Proto.Input); n > k.Operands {
		return fmt.Errorf("has %d operands; %d are known", n, k.Operands)
	}
	for _, a := range c.Proto.Attribute {
		if !Listed(k.Honoured, a.Name) && !Listed(k.Irrelevant, a.Name) {
			return fmt.Errorf("has an attribute %.80q, which is not known: what it asks for is not supported", a.Name)
		}
	}
	return nil
}

func Listed(names, name string) bool {
	return strings.Contains(" "+names+" ", " "+name+" ") && name != "" && !strings.Contains(name, " ")
}
