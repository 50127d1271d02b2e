// Package nearest finds the name that somebody may have meant.
package nearest

import (
	"fmt"
	"strings"

	"github.com/xrash/smetrics"
)

// Name returns ` (did you mean "x"?)` for the most similar of the names, or "" if all of them are too
// different. A name is similar if it begins with got, or got begins with it, or if few letters must be
// changed: one of three, but up to two in a short name, so that two letters may be exchanged. Dashes at
// the beginning do not count.
func Name(got string, names []string) string {
	word := strings.ToLower(strings.TrimLeft(got, "-"))
	best, least := "", max(len(word)/3, min(len(word)-1, exchanged))+1
	for _, n := range names {
		other := strings.ToLower(strings.TrimLeft(n, "-"))
		d := smetrics.WagnerFischer(word, other, 1, 1, 1)
		begun := strings.HasPrefix(other, word) || strings.HasPrefix(word, other)
		if begun && min(len(word), len(other)) >= shortest {
			d = min(d, 1)
		}
		if d < least {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

const (
	shortest  = 3 // minimum length of a prefix that is an abbreviation
	exchanged = 2 // cost of two exchanged letters
)
