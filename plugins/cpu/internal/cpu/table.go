package cpu

import (
	"maps"
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// table is the operations that the device runs.
var table = operations{builders: map[graph.Op]builder{}, oneBlock: oneBlock}

func init() {
	maps.Copy(table.builders, productOps)
	maps.Copy(table.builders, restOps)
}

// Ops returns the operations that the device runs, by number.
func Ops() []graph.Op { return slices.Sorted(maps.Keys(table.builders)) }
