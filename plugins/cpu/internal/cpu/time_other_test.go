//go:build !unix

package cpu

import "time"

// processTime returns 0: the processor time is known only on Unix.
func processTime() time.Duration { return 0 }
