//go:build !unix

package remote

import "io/fs"

// hasOthers reports whether permissions show what other users may do.
const hasOthers = false

// shared is not known here.
func shared(fs.FileInfo) bool { return false }
