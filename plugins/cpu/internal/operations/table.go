package operations

import (
	"maps"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
)

// Ops are all operations except products.
var Ops = map[graph.Op]plan.Builder{}

func init() {
	for _, family := range []map[graph.Op]plan.Builder{
		normOps, activationOps, poolOps, arithmeticOps, structureOps, lossOps, updateOps, reductionOps,
		rowNormOps, matMulOps, int8Ops, detectOps,
	} {
		maps.Copy(Ops, family)
	}
}
