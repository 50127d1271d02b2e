package cpu

import (
	"maps"

	"github.com/bnctl/bnctl/graph"
)

// restOps are the operations beside products.
var restOps = map[graph.Op]builder{}

func init() {
	for _, family := range []map[graph.Op]builder{
		normOps, activationOps, poolOps, arithmeticOps, structureOps, lossOps, updateOps, reductionOps,
	} {
		maps.Copy(restOps, family)
	}
}
