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

// Wanted reports whether a run is shown on a terminal. requested is the user's choice, or nil. Without a
// choice the run is shown if the terminal is large enough, but not in continuous integration (CI).
func Wanted(requested *bool, w io.Writer, env func(string) string) bool {
	if requested != nil {
		return *requested
	}
	size := waiting.SizeOf(w)
	return size.Columns >= leastColumns && size.Rows >= leastRows && env("CI") == ""
}
