//go:build darwin || freebsd || linux

package cu

import (
	"fmt"
	"strings"

	"github.com/ebitengine/purego"
)

// library is an open shared library.
type library struct {
	name   string
	handle uintptr
}

// openLibrary opens the first of the names that there is: file names are
// looked up as the loader does, paths are taken as they are.
func openLibrary(names ...string) (*library, error) {
	err := fmt.Errorf("%s not found", names[0])
	for _, name := range names {
		h, e := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if e == nil {
			return &library{name, h}, nil
		}
		if !strings.Contains(e.Error(), "No such file") { // it is there, but of no use
			err = e
		}
	}
	return nil, err
}

// bind makes *fn the function of that name. A missing one is an error here;
// registering it would panic.
func (l *library) bind(fn any, name string) error {
	symbol, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return fmt.Errorf("%s has no function %s: %w", l.name, name, err)
	}
	purego.RegisterFunc(fn, symbol)
	return nil
}

func (l *library) close() error { return purego.Dlclose(l.handle) }
