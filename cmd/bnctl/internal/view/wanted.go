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

// Wanted reports whether a run is shown on a terminal: if that was asked for, else where there is
// space enough and a person looks, which is not so in continuous integration (CI).
func Wanted(asked *bool, to io.Writer, env func(string) string) bool {
	if asked != nil {
		return *asked
	}
	size := waiting.SizeOf(to)
	return size.Columns >= leastColumns && size.Rows >= leastRows && env("CI") == ""
}
