package train

import (
	"fmt"
	"math"
	"strings"
)

// Lines describes the result of a range test: rates with their losses, and the suggestion.
// Options are in braces.
func (f *RateRange) Lines() []string {
	const rows, width = 20, 40
	steps := f.sampled(rows)
	least, most := math.MaxFloat64, math.SmallestNonzeroFloat64
	for _, s := range steps {
		if least = min(least, s.Smoothed); s.LR <= f.Lowest { // diverging losses do not set the scale
			most = max(most, s.Smoothed)
		}
	}
	lines := []string{fmt.Sprintf("%10s  %8s", "rate", "loss")}
	for _, s := range steps {
		bar := 1 + int((width-1)*min((s.Smoothed-least)/(most-least), 1))
		lines = append(lines, fmt.Sprintf("%10.2g  %8.4f  %s", s.LR, s.Smoothed, strings.Repeat("▇", bar)))
	}
	text := fmt.Sprintf("the loss falls fastest at %.2g and is lowest at %.2g", f.Steepest, f.Lowest)
	if f.Diverged > 0 {
		text += fmt.Sprintf("; at %.2g it diverges", f.Diverged)
	}
	return append(lines, text, fmt.Sprintf("suggested: {lr} %g", f.Suggested))
}
