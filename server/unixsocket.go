package server

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bnctl/bnctl/problem"
)

// unixPath returns PATH of an address "unix:PATH", and whether address has this form.
func unixPath(address string) (string, bool) { return strings.CutPrefix(address, "unix:") }

// listenOn listens on HOST:PORT, or on a socket in the file system that only its owner can connect to.
func listenOn(ctx context.Context, address string) (net.Listener, error) {
	var lc net.ListenConfig
	path, isUnix := unixPath(address)
	if !isUnix {
		return lc.Listen(ctx, "tcp", address)
	}
	removeStale(path)
	restore := ownerOnly()
	l, err := lc.Listen(ctx, "unix", path)
	restore()
	if errors.Is(err, syscall.EADDRINUSE) {
		err = problem.Advise("stop it, or choose another path", "unix:%s: another server listens there: %w",
			path, err)
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// removeStale removes the socket of a server that was killed. Such a socket refuses connections.
func removeStale(path string) {
	if at, err := os.Lstat(path); err != nil || at.Mode().Type() != os.ModeSocket {
		return
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
	} else if errors.Is(err, syscall.ECONNREFUSED) {
		_ = os.Remove(path)
	}
}

// maxUnixPath is the longest path of a socket that all systems accept.
const maxUnixPath = 103

// checkUnix returns an error if a path cannot be the address of a socket.
func checkUnix(field, path string) error {
	switch {
	case path == "":
		return problem.New(field, `"unix:"`, "a path is missing", "write for example unix:/run/bnctl.sock")
	case len(path) > maxUnixPath:
		return problem.New(field, "unix:"+path, "the path is longer than 103 bytes, the limit of a socket",
			"choose a shorter folder")
	}
	if folder := filepath.Dir(path); !isFolder(folder) {
		return problem.New(field, "unix:"+path, folder+" is not a folder", "create it, or choose another path")
	}
	if at, err := os.Lstat(path); err == nil && at.Mode().Type() != os.ModeSocket {
		return problem.New(field, "unix:"+path, "a file that is not a socket has that name", "choose another path")
	}
	return nil
}

func isFolder(path string) bool {
	at, err := os.Stat(path)
	return err == nil && at.IsDir()
}
