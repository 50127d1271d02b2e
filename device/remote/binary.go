package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/problem"
)

// binary is an executable that is opened once, so that the file with the checked sum is the
// one that runs. On Linux the process is started from the open file (/proc/self/fd/3), not
// from the path: a file that replaces it between the check and the start is not run.
type binary struct {
	file *os.File
	path string
}

// openBinary opens the executable of c and checks its sum. A plugin that already runs has
// no executable.
func openBinary(c *Command) (*binary, error) {
	if c.Greeting != "" {
		return &binary{}, nil
	}
	f, err := os.Open(c.Path)
	if err != nil {
		return nil, c.fail("start", device.Unavailable, "%w", err)
	}
	b := &binary{file: f, path: c.Path}
	if err := b.check(c); err != nil {
		f.Close()
		return nil, err
	}
	return b, nil
}

// check returns an error if the file is not executable or does not have the sum of the
// command.
func (b *binary) check(c *Command) error {
	i, err := b.file.Stat()
	switch {
	case err != nil:
		return c.fail("start", device.Unavailable, "%w", err)
	case !i.Mode().IsRegular() || i.Mode()&0o111 == 0 && runtime.GOOS != "windows": // not on Windows
		return c.fail("start", device.Unavailable, "%s is not an executable file (%v)", b.path, i.Mode())
	case c.SHA256 == "":
		return nil
	}
	sum, err := sumOf(b.file)
	if err != nil {
		return c.fail("start", device.Unavailable, "%w", err)
	}
	if sum != c.SHA256 {
		return c.fail("start", device.Unavailable,
			"%w", problem.Advise("if that is right, add it again", "%s has the sum %.12s..., the lock says "+
				"%.12s...: it has changed since it was added", b.path, sum, c.SHA256))
	}
	return nil
}

// sumOf returns the SHA-256 of a file in hexadecimal.
func sumOf(f *os.File) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, 1<<62)); err != nil {
		return "", fmt.Errorf("%s: %w", f.Name(), err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// close closes the file. It does nothing for a plugin that was already running.
func (b *binary) close() error {
	if b.file == nil {
		return nil
	}
	return b.file.Close()
}
