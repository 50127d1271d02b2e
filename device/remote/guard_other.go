//go:build !unix

package remote

import "io/fs"

// hasOthers is whether permissions tell what others may do.
const hasOthers = false

// shared is not known here.
func shared(fs.FileInfo) bool { return false }
