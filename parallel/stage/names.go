package stage

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/graph"
)

// Prefixes of the names of inputs and outputs that a division adds.
const (
	acrossPrefix = "across:" // for values that go from stage to stage
	keptPrefix   = "kept:"   // for values that graph.Forward keeps for graph.Backward
	leafPrefix   = "leaf:"   // for replica values that graph.Backward keeps for graph.Reduce
)

// longest is the number of bytes of a value's name that an input's name may contain. It
// leaves room for the prefix and the number.
const longest = 200

// named returns the name under which value v of f leaves a function.
func named(prefix string, f *graph.Function, v graph.Value) string {
	name := f.Values[v].Name
	if len(name) > longest {
		name = fmt.Sprintf("%s.%d", name[:longest], v)
	}
	return prefix + name
}

// Across reports whether an input or output of that name goes from stage to stage.
func Across(name string) bool { return strings.HasPrefix(name, acrossPrefix) }
