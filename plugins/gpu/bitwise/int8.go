package bitwise

import (
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
)

// Int8 returns the operations of int8, which GPUs refuse (docs/int8.md).
func Int8() []graph.Op {
	return slices.DeleteFunc(graph.Ops(), func(o graph.Op) bool { return !o.Int8() })
}

// Int8Case reports whether a case of package devicetest is of maps that only templates of int8 have, but of
// none of their operations.
func Int8Case(name string) bool { return strings.HasPrefix(name, "slice: bytes") }
