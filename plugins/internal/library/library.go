//go:build darwin || freebsd || linux

package library

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"
)

// Library is an open shared library.
type Library struct {
	name   string
	handle uintptr
}

// Open opens the first of the names that there is: file names are
// looked up as the loader does, paths are taken as they are.
func Open(names ...string) (*Library, error) {
	err := fmt.Errorf("%s not found", names[0])
	for _, name := range names {
		h, e := dlopen(name)
		if e == nil {
			return &Library{name, h}, nil
		}
		if !strings.Contains(e.Error(), "No such file") { // it is there, but of no use
			err = e
		}
	}
	return nil, err
}

// dlopen keeps its thread: why a library cannot be opened is kept per thread,
// and asked for by a second call.
func dlopen(name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// Bind makes *fn the function of that name. A missing one is an error here;
// registering it would panic.
func (l *Library) Bind(fn any, name string) error {
	runtime.LockOSThread() // as in dlopen
	defer runtime.UnlockOSThread()
	symbol, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return fmt.Errorf("%s has no function %s: %w", l.name, name, err)
	}
	purego.RegisterFunc(fn, symbol)
	return nil
}

// Close closes the library.
func (l *Library) Close() error { return purego.Dlclose(l.handle) }
