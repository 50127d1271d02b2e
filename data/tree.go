package data

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// member is one file of a folder or of an archive.
type member struct {
	name     string // path with slashes, relative to the folder or the archive
	size     int64
	read     func() ([]byte, error) // its errors do not contain the name
	listed   *listedFile            // state of a file of a folder when it was listed; nil in an archive
	prefetch func()                 // starts to read a file on another machine in the background; else nil
}

// tree has the wanted files of a folder or an archive.
type tree struct {
	members []member
	ignored map[string]int // number of other files, by extension; "special" for pipes and the like
	empty   []string       // folders without wanted files
	close   func() error
}

// ignore counts a file that is not wanted.
func (t *tree) ignore(extension string) {
	if t.ignored == nil {
		t.ignored = map[string]int{}
	}
	t.ignored[extension]++
}

// counting returns a function that calls keep. It also counts the files that keep refuses.
func (t *tree) counting(keep func(string) bool) func(string) bool {
	return func(name string) bool {
		if hidden(name) {
			return false
		}
		if !keep(name) {
			t.ignore(strings.ToLower(path.Ext(name)))
			return false
		}
		return true
	}
}

// openTree lists those files of a folder, .tar, .tar.gz or .zip that keep accepts, in the order that they
// have there. The content of an archive determines its kind, not its name. Files with a name that begins with
// a dot, and the folder __MACOSX, are always left out.
func openTree(ctx context.Context, name string, keep func(name string) bool) (*tree, error) {
	if r := regular.RemoteOf(name); r != nil && !isArchiveName(name) {
		if t, err := openRemote(ctx, r, name, keep); t != nil || err != nil {
			return t, err
		}
	}
	info, err := os.Stat(regular.Resolve(name))
	if err != nil && regular.RemoteOf(name) != nil {
		_, err = regular.Open(name) // this returns the reason
	}
	if err != nil && name == standardInput {
		_, err = regular.Open(name) // this returns the error that it is not supported here
	}
	if err != nil {
		return nil, stream.WithoutPath(err)
	}
	if info.IsDir() {
		t := &tree{close: func() error { return nil }}
		return t, t.walk(name, "", 0, t.counting(keep))
	}
	f, err := regular.Open(name)
	if err != nil {
		return nil, stream.WithoutPath(err)
	}
	kind, err := archiveKind(f)
	switch {
	case err != nil:
	case kind == "zip":
		return openZip(f, info.Size(), f.Close, keep) // the result keeps f open, and closes it
	case kind == "gzip":
		defer f.Close()
		return readTarGz(stream.NewReader(ctx, f), info.Size(), keep)
	case kind == "tar":
		defer f.Close()
		return readTar(stream.NewReader(ctx, f), keep)
	default:
		err = errors.New("this is neither a folder nor a .tar, .tar.gz or .zip archive")
	}
	f.Close()
	return nil, err
}

// archiveKind reads the first bytes of a file, and then moves back to its start. It returns "zip", "gzip" or
// "tar", or "" for anything else.
func archiveKind(f *os.File) (string, error) {
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return "", stream.WithoutPath(err)
	}
	if n == 0 {
		return "", errors.New("the file is empty")
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", stream.WithoutPath(err)
	}
	if kind := archiveIn(head); kind == "" && strings.HasSuffix(f.Name(), ".tar") {
		return "tar", nil
	}
	return archiveIn(head), nil
}

// archiveIn returns the kind of an archive that begins with the bytes head, as archiveKind does.
func archiveIn(head []byte) string {
	const magicOfTar = 257
	switch {
	case bytes.HasPrefix(head, []byte("PK")):
		return "zip"
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return "gzip"
	case len(head) > magicOfTar && bytes.HasPrefix(head[magicOfTar:], []byte("ustar")):
		return "tar"
	}
	return ""
}

// walk adds the files below root/dir. It follows links, because a folder belongs to the user, unlike an
// archive.
func (t *tree) walk(root, dir string, depth int, wanted func(string) bool) (err error) {
	if depth > maxFolderDepth {
		return fmt.Errorf("folder %s: more than %d folders deep; does a link lead back?", dir, maxFolderDepth)
	}
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
	if err != nil {
		return stream.WithoutPath(err)
	}
	before, folders := len(t.members), false
	defer func() {
		if err == nil && len(t.members) == before && !folders && dir != "" {
			t.empty = append(t.empty, dir)
		}
	}()
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if hidden(name) {
			continue
		}
		file := filepath.Join(root, filepath.FromSlash(name))
		info, err := e.Info()
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			info, err = os.Stat(file)
		}
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", name, stream.WithoutPath(err))
		case info.IsDir():
			folders = true
			if err := t.walk(root, name, depth+1, wanted); err != nil {
				return err
			}
		case info.Mode().IsRegular() && wanted(name):
			m := member{name: name, size: info.Size(), listed: newListedFile(file, info)}
			m.read = func() ([]byte, error) { return readFile(file) }
			if err := t.add(m); err != nil {
				return err
			}
		case !info.Mode().IsRegular():
			t.ignore("special")
		}
	}
	return nil
}

// add adds a member after checking the limits.
func (t *tree) add(m member) error {
	if m.size > maxFileBytes {
		return fmt.Errorf("member %s: %s; at most %d are read", m.name, problem.Plural(int(m.size), "byte"),
			maxFileBytes)
	}
	if len(t.members) == maxMembers {
		return fmt.Errorf("more than %d files", maxMembers)
	}
	t.members = append(t.members, m)
	return nil
}

// readFile reads a file. The file may have changed since it was listed.
func readFile(name string) ([]byte, error) {
	f, err := regular.Open(name)
	if err != nil {
		return nil, stream.WithoutPath(err)
	}
	defer f.Close()
	b, err := readBounded(f, maxFileBytes)
	return b, stream.WithoutPath(err)
}

// readBounded reads r to its end. It is an error if r has more than limit bytes.
func readBounded(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return b, err
}

// hidden reports whether some folder or file in a path begins with a dot, or is the folder that macOS adds to
// archives.
func hidden(name string) bool {
	for element := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(element, ".") || element == "__MACOSX" {
			return true
		}
	}
	return false
}
