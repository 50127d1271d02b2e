package operations

import (
	"maps"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Ops are the operations beside products.
var Ops = map[graph.Op]run.Builder{}

func init() {
	for _, family := range []map[graph.Op]run.Builder{
		normOps, activationOps, poolOps, arithmeticOps, structureOps, lossOps, updateOps, reductionOps,
	} {
		maps.Copy(Ops, family)
	}
}
