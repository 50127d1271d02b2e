//go:build !darwin && !freebsd && !linux

package library

import (
	"fmt"
	"runtime"
)

// Library is never opened on this system.
type Library struct{ name string }

// Open returns an error: this system is not supported.
func Open(names ...string) (*Library, error) {
	return nil, fmt.Errorf("%s: shared libraries are not opened on %s yet", names[0], runtime.GOOS)
}

// OpenGlobal returns an error: this system is not supported.
func OpenGlobal(names ...string) (*Library, error) { return Open(names...) }

// Symbol is never called, because no library can be opened.
func (l *Library) Symbol(string) (uintptr, error) { return 0, nil }

// Call is never called, because no library can be opened.
func Call(uintptr, ...uintptr) uintptr { return 0 }

// Name is never called, because no library can be opened.
func (l *Library) Name() string { return l.name }

// Bind is never called, because no library can be opened.
func (l *Library) Bind(any, string) error { return nil }

// Close is never called, because no library can be opened.
func (l *Library) Close() error { return nil }
