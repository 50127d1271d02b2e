package recipe

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/parts"
)

// TestEveryChoiceHasANumber: the values that Check accepts are numbered parts.
func TestEveryChoiceHasANumber(t *testing.T) {
	var names []string
	for _, optimizer := range Optimizers() {
		names = append(names, "optimizer."+optimizer)
	}
	for _, schedule := range scheduleEdges {
		name, _, _ := strings.Cut(schedule, ":")
		names = append(names, "schedule."+name)
	}
	for _, mode := range bn.Modes() {
		if mode != bn.Frozen {
			names = append(names, "statistics."+string(mode))
		}
	}
	for _, name := range names {
		if parts.Number(name) == "" {
			t.Errorf("part %s has no number", name)
		}
	}
}
