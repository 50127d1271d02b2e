package data

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/data/internal/names"
	"github.com/bnctl/bnctl/data/tables"
	"github.com/bnctl/bnctl/internal/regular"
)

// tableFolder finds files that a table names. They may be on this machine or another one.
type tableFolder struct {
	path   string
	remote map[string]member // files on another machine, by name in NFC; nil for a folder on this machine
}

// openTableFolder returns the folder at a path or a URL. It lists the files at a URL once, because a request
// for each row of a table would need longer.
func openTableFolder(ctx context.Context, path string) (*tableFolder, error) {
	f := &tableFolder{path: path}
	r := regular.RemoteOf(path)
	if r == nil {
		return f, nil
	}
	t, err := openRemote(ctx, r, path, images.IsFileName)
	if err != nil {
		return nil, err
	}
	f.remote = map[string]member{}
	if t == nil {
		return f, nil
	}
	for _, m := range t.members {
		f.remote[names.Composed(m.name)] = m
	}
	return f, nil
}

// member returns the file that a table names, in the subfolder below. found is false if the file does not
// exist.
func (f *tableFolder) member(subfolder, file string) (m member, found bool) {
	name := path.Join(subfolder, file)
	if f.remote != nil {
		if m, found = f.remote[names.Composed(name)]; !found {
			m.read = func() ([]byte, error) { return nil, fs.ErrNotExist }
		}
		m.name = name
		return m, found
	}
	at := filepath.FromSlash(file)
	if !filepath.IsAbs(at) {
		at = filepath.Join(f.path, subfolder, at)
	}
	at = names.StoredPath(at)
	m = member{name: name, read: func() ([]byte, error) { return readFile(at) }}
	if info, err := os.Stat(at); err == nil {
		m.size, m.listed, found = info.Size(), newListedFile(at, info), info.Mode().IsRegular()
	}
	return m, found
}

// finder returns a function that finds the file for a path in a table. The file is below the table's folder,
// or below a subfolder that has the table's name or a usual one. If the table omits the extension, the
// extension of a picture is added. The first row that has a file determines the subfolder and the
// extension for all rows.
func (f *tableFolder) finder(table string, rows []tables.Row, column int) func(file string) member {
	below, extension := "", ""
search:
	for _, row := range rows[:min(len(rows), 100)] {
		file := strings.ReplaceAll(row.Fields[column], `\`, "/")
		for _, below = range []string{"", table, "images", "imgs", "img", "pictures", "photos", "train", "data"} {
			for _, extension = range append([]string{""}, images.Extensions...) {
				if _, found := f.member(below, file+extension); found {
					break search
				}
			}
		}
		below, extension = "", ""
	}
	return func(file string) member {
		m, _ := f.member(below, file+extension)
		return m
	}
}
