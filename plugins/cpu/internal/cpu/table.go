package cpu

import (
	"maps"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/convolution"
	"github.com/bnctl/bnctl/plugins/cpu/internal/operations"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
)

// table is the operations that the device runs.
var table = plan.Operations{Builders: map[graph.Op]plan.Builder{}, OneBlock: operations.OneBlock}

func init() {
	maps.Copy(table.Builders, convolution.Ops)
	maps.Copy(table.Builders, operations.Ops)
}

// Ops returns the operations that the device runs, by number.
func Ops() []graph.Op { return slices.Sorted(maps.Keys(table.Builders)) }
