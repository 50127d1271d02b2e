package view

import (
	"io"

	"github.com/bnctl/bnctl/internal/waiting"
)

// Size of the smallest terminal where a run is shown without a request.
const (
	leastColumns = 80
	leastRows    = 20
)

// Wanted reports whether a run is shown on a terminal. asked is the request of the user, or nil. Without a
// request the run is shown if the terminal is large enough, but not in continuous integration (CI), where
// nobody looks.
func Wanted(asked *bool, to io.Writer, env func(string) string) bool {
	if asked != nil {
		return *asked
	}
	size := waiting.SizeOf(to)
	return size.Columns >= leastColumns && size.Rows >= leastRows && env("CI") == ""
}
