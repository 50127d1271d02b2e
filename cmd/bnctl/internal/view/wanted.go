package view

import (
	"io"

	"github.com/bnctl/bnctl/internal/waiting"
)

// The smallest terminal that shows a run by default.
const (
	leastColumns = 80
	leastRows    = 20
)

// Wanted reports whether a run is shown on a terminal. Without a request it is shown if the terminal
// is large enough, and not in continuous integration (CI), where no person looks.
func Wanted(asked *bool, to io.Writer, env func(string) string) bool {
	if asked != nil {
		return *asked
	}
	size := waiting.SizeOf(to)
	return size.Columns >= leastColumns && size.Rows >= leastRows && env("CI") == ""
}
