package quantize

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// trusts refuses statistics that cannot belong to the feature maps that the batch norms
// read: the norm's result would have another mean than beta, and another deviation than
// gamma. A model that was never trained only has initial statistics, and causes only a
// note.
func trusts(m *models.Model, note func(format string, args ...any)) error {
	norms := formats.ModelNorms(m)
	if len(norms) > 0 && bn.Initial(norms) {
		if note != nil {
			note("the model was never trained: no batch norm has statistics of data, and the ranges that they " +
				"give may be far from its maps'; train it first, or give samples with {data}")
		}
		return nil
	}
	wrong := slices.DeleteFunc(bn.Examine(norms), func(f bn.Finding) bool { return f.Severity != bn.Fault })
	if len(wrong) == 0 {
		return nil
	}
	more := ""
	if n := len(wrong) - 1; n > 0 {
		more = fmt.Sprintf(", and %s more like it", problem.Plural(n, "batch norm"))
	}
	return problem.Advise("give samples with {data}, or "+wrong[0].Advice,
		"%s: %s%s: such statistics do not say in which range maps lie", wrong[0].Layer, wrong[0].Problem, more)
}
