package remote

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// maxLinks is the maximum number of links on a path, as in the kernel, because two links may
// refer to each other.
const maxLinks = 40

// guarded returns an error if other users could have changed or replaced a file: if they can write the
// file or a folder on the path to it. The path includes links and the folders that contain them.
//
// guarded follows the path like the kernel. rest has the remaining names, and at is the current position.
// A link puts its target in front of rest, and restarts at the root if the target is absolute:
//
//	at         rest                         what is checked
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

// checkNotWritable returns an error for a file or folder that everybody may write, or a
// group that has other members than this user and root. In a folder with the sticky bit,
// for example /tmp, others cannot replace files of this user.
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
