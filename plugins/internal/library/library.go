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

// Open opens the first of the names that exists. File names are looked up by the system's loader; paths
// are opened directly.
func Open(names ...string) (*Library, error) { return open(purego.RTLD_LOCAL, names) }

// OpenGlobal does the same as Open for a library that loads plugins, which look up its symbols.
func OpenGlobal(names ...string) (*Library, error) { return open(purego.RTLD_GLOBAL, names) }

func open(mode int, names []string) (*Library, error) {
	err := fmt.Errorf("%s not found", names[0])
	for _, name := range names {
		h, e := dlopen(name, mode)
		if e == nil {
			return &Library{name, h}, nil
		}
		if !strings.Contains(e.Error(), "No such file") { // it exists, but cannot be used
			err = e
		}
	}
	return nil, err
}

// dlopen locks its thread, because the system stores the reason of a failure per thread, and a
// second call reads it.
func dlopen(name string, mode int) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(name, purego.RTLD_NOW|mode)
}

// Bind sets *fn to the function with this name. It returns an error if the library lacks the function;
// purego would panic.
func (l *Library) Bind(fn any, name string) error {
	symbol, err := l.Symbol(name)
	if err != nil {
		return err
	}
	purego.RegisterFunc(fn, symbol)
	return nil
}

// Symbol returns the address of a function or variable.
func (l *Library) Symbol(name string) (uintptr, error) {
	runtime.LockOSThread() // dlopen locks the thread for the same reason
	defer runtime.UnlockOSThread()
	symbol, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return 0, fmt.Errorf("%s has no %s: %w", l.name, name, err)
	}
	return symbol, nil
}

// Call calls the function at an address. Arguments are integers, and addresses of memory that the
// caller keeps. Call returns the function's integer result. It is faster than a function from Bind.
func Call(function uintptr, arguments ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(function, arguments...)
	return r
}

// Name returns the name that was opened.
func (l *Library) Name() string { return l.name }

// Close closes the library.
func (l *Library) Close() error { return purego.Dlclose(l.handle) }
