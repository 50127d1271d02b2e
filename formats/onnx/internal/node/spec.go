package node

import (
	"fmt"
	"strings"
)

// Spec lists the known attributes and operands of an operator, in all supported operator sets. A node
// with others is rejected, because an unknown attribute could change the result.
type Spec struct {
	Operands int // maximum number; ManyOperands for a list
	// Honoured attributes are read; for some of them, values without a counterpart are
	// rejected, each with a specific message.
	Honoured string
	// Irrelevant attributes do not change supported results.
	Irrelevant string
}

// ManyOperands is the maximum number of operands of operators that have a list of operands.
const ManyOperands = 1 << 16

// Check rejects a node with attributes or operands that its operator does not have.
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

// Listed reports whether a list of names, separated by spaces, contains a name.
func Listed(names, name string) bool {
	return strings.Contains(" "+names+" ", " "+name+" ") && name != "" && !strings.Contains(name, " ")
}
