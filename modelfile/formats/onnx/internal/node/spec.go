package node

import (
	"fmt"
	"strings"
)

// Spec lists an operator's known attributes and operands, in all
// operator sets that are read. A node with anything else is refused: what is
// not known could change the answer.
type Spec struct {
	Operands int // at most; manyOperands for a list
	// Honoured attributes are read; of some the values that have no
	// counterpart are refused, each by a separate sentence.
	Honoured string
	// Irrelevant attributes change no supported answer.
	Irrelevant string
}

// ManyOperands is the limit of operators that have a list of operands.
const ManyOperands = 1 << 16

// Check refuses a node with operands or attributes that are not known.
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
