//go:build !unix

package remote

import "io/fs"

// hasOthers reports whether permissions show what other users may do.
const hasOthers = false

// shared returns false: groups are unknown on this system.
func shared(fs.FileInfo) bool { return false }
