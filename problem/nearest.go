package problem

import (
	"fmt"

	"github.com/xrash/smetrics"
)

// Nearest is Nearest of the name that there is not, and those that there are.
func (u *Unknown) Nearest() string { return Nearest(u.Name, u.Known) }

// Nearest returns ` (did you mean "x"?)` for the name that is most like got,
// or nothing if none is like it.
func Nearest(got string, names []string) string {
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
