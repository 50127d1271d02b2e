package regular

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/problem"
)

// maxLinks is the maximum number of symbolic links that are followed. It is Linux's.
const maxLinks = 40

// target returns the file that is written under the name path: path itself, or the target of a
// symbolic link there, which need not exist. The link stays: a user who makes a link at the name of
// a result wants the result at its target. It is an error if something other than a regular file is
// there.
func target(path string) (string, error) {
	name := path
	for range maxLinks {
		info, err := os.Lstat(name)
		if err != nil {
			return name, nil // a new file, or a folder for which creating the file returns the error
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return name, writable(path, info.Mode())
		}
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			return name, writable(path, info.Mode()) // the link of a pipe in /proc cannot be read as a path
		}
		next, err := os.Readlink(name)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(resolveFolder(filepath.Dir(name)), next)
		}
		name = next
	}
	return "", problem.Advise("name the file itself", "%s is a link that leads round in a circle, or through "+
		"more than %d links", path, maxLinks)
}

// resolveFolder returns a folder without links in its path: ".." in a link starts from there.
func resolveFolder(folder string) string {
	if at, err := filepath.EvalSymlinks(folder); err == nil {
		return at
	}
	return folder
}

// writable rejects a file that is not regular.
func writable(path string, m fs.FileMode) error {
	switch {
	case m.IsRegular():
		return nil
	case m.IsDir():
		return problem.Advise("name a file", "%s is a folder", path)
	}
	return problem.Advise("name a file", "%s is %s, and %w", path, kind(m), ErrNotRegular)
}
