//go:build !darwin && !freebsd && !linux

package cu

import (
	"fmt"
	"runtime"
)

// library is never opened on this system.
type library struct{ name string }

func openLibrary(names ...string) (*library, error) {
	return nil, fmt.Errorf("%s: shared libraries are not opened on %s yet", names[0], runtime.GOOS)
}

func (l *library) bind(any, string) error { return nil }

func (l *library) close() error { return nil }
