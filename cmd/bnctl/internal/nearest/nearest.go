// Package nearest finds the name that somebody may have meant.
package nearest

import (
	"fmt"
	"strings"

	"github.com/xrash/smetrics"
)

// Name returns ` (did you mean "x"?)` for the name that is most like got, or "" if no name is like
// it: one that begins as got does to its end, one that is the beginning of got, or one that is got
// with a mistake for every three letters, or two neighbours exchanged, the dashes of options not
// counted.
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
	shortest  = 3 // least letters of a prefix that counts as an abbreviation
	exchanged = 2 // cost of two exchanged letters
)
