// Package nearest finds the name that a user may have meant by an unknown name.
package nearest

import (
	"fmt"
	"strings"

	"github.com/xrash/smetrics"
)

// Name returns ` (did you mean "x"?)` for the name that is most similar to got, or "" if all are too
// different. A name is similar if it begins with got, if got begins with it, or if few letters must be
// changed: one in three, or up to two in a short name, so that two letters may be exchanged. Dashes at the
// beginning are ignored.
func Name(got string, names []string) string {
	word := strings.ToLower(strings.TrimLeft(got, "-"))
	best, distance := "", max(len(word)/3, min(len(word)-1, exchanged))+1
	for _, n := range names {
		other := strings.ToLower(strings.TrimLeft(n, "-"))
		d := smetrics.WagnerFischer(word, other, 1, 1, 1)
		begun := strings.HasPrefix(other, word) || strings.HasPrefix(word, other)
		if begun && min(len(word), len(other)) >= shortest {
			d = min(d, 1)
		}
		if d < distance {
			best, distance = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

const (
	shortest  = 3 // minimum length of the beginning of a name that counts as an abbreviation
	exchanged = 2 // number of changes that two exchanged letters need
)
