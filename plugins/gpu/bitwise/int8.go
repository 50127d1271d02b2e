package bitwise

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// Int8 returns the operations of int8, which GPUs refuse (docs/int8.md).
func Int8() []graph.Op {
	return slices.DeleteFunc(graph.Ops(), func(o graph.Op) bool { return !o.Int8() })
}
