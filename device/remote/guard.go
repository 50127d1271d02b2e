package remote

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// maxLinks bounds how many links a path leads over, as the kernel does: two may lead to each other.
const maxLinks = 40

// guarded refuses a file that others could have changed, or put another in the
// place of: since they can write it, or a folder on the way to it. The way
// goes through links, and through the folders that these lie in.
//
// It walks like the kernel does: rest are the names that are left, at is where it stands. A link puts
// its target in front of what is left, and begins at the root again if the target is absolute:
//
//	at         rest                         what is looked at
//	/          opt bnctl mine               /opt: a folder, only root may write
//	/opt       bnctl mine                   /opt/bnctl: a link to ../srv/bnctl
//	/opt       .. srv bnctl mine            /, /srv, /srv/bnctl, /srv/bnctl/mine
func guarded(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	root := filepath.VolumeName(path) + string(filepath.Separator)
	at, rest, links := root, pathComponents(path[len(root):]), 0
	for len(rest) > 0 {
		next := filepath.Join(at, rest[0])
		i, err := os.Lstat(next)
		if err != nil {
			return err
		}
		if rest = rest[1:]; i.Mode()&fs.ModeSymlink == 0 {
			if err := checkNotWritable(next, i); err != nil {
				return err
			}
			at = next
			continue
		}
		if links++; links > maxLinks {
			return fmt.Errorf("%s leads over more than %d links", path, maxLinks)
		}
		to, err := os.Readlink(next)
		if err != nil {
			return err
		}
		if filepath.IsAbs(to) {
			at = root
		}
		rest = append(pathComponents(to), rest...)
	}
	return nil
}

// pathComponents splits a path.
func pathComponents(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator })
}

// checkNotWritable refuses a file or folder with write permission for everybody, or for a group
// that has other members than this user and root. In a folder with the sticky bit, such as /tmp,
// others cannot replace files of this user.
func checkNotWritable(path string, i fs.FileInfo) error {
	if i.IsDir() && i.Mode()&os.ModeSticky != 0 {
		return nil
	}
	switch m := i.Mode().Perm(); {
	case m&0o002 != 0 && hasOthers:
		return problem.Advise("chmod o-w "+path, "%s can be written by others (%v)", path, m)
	case m&0o020 != 0 && shared(i):
		return problem.Advise("chmod g-w "+path, "%s can be written by others, by its group (%v)", path, m)
	}
	return nil
}
