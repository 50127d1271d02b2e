//go:build !darwin && !freebsd && !linux

package library

import (
	"fmt"
	"runtime"
)

// Library is never opened on this system.
type Library struct{ name string }

// Open says that there are none.
func Open(names ...string) (*Library, error) {
	return nil, fmt.Errorf("%s: shared libraries are not opened on %s yet", names[0], runtime.GOOS)
}

// Bind is never called.
func (l *Library) Bind(any, string) error { return nil }

// Close is never called.
func (l *Library) Close() error { return nil }
