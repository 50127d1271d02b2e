//go:build !unix

package cpu

import "time"

// processTime returns 0: it is known of Unix processes.
func processTime() time.Duration { return 0 }
