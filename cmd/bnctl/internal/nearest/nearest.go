// Package nearest finds the name that somebody may have meant.
package nearest

import (
	"fmt"

	"github.com/xrash/smetrics"
)

// Name returns ` (did you mean "x"?)` for the name that is most like got, or "" if no name is like
// it.
func Name(got string, names []string) string {
	best, score := "", 0.8
	for _, n := range names {
		if s := smetrics.JaroWinkler(got, n, 0.7, 4); s > score {
			best, score = n, s
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}
