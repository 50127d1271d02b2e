package data

import (
	"context"
)

// Files has the files of a folder or of an archive that a data set consists of.
type Files struct {
	All  []File
	tree *tree
}

// File is one file of Files. Name is slash-separated and relative to the folder or archive.
type File struct {
	Name string
	Read func() ([]byte, error) // errors do not repeat the name

	ahead func() // starts to read a file on another machine; else nil
}

// OpenFiles lists the files of a folder, .tar, .tar.gz or .zip that keep accepts, with the
// limits of every data source: links out of an archive, bombs and huge files are errors.
// Files with a name that begins with a dot never count.
func OpenFiles(ctx context.Context, path string, keep func(name string) bool) (*Files, error) {
	t, err := openTree(ctx, path, keep)
	if err != nil {
		return nil, err
	}
	f := &Files{tree: t}
	for _, m := range t.members {
		f.All = append(f.All, File{m.name, m.read, m.ahead})
	}
	return f, nil
}

// Close closes the archive. Read must not be called afterwards.
func (f *Files) Close() error { return f.tree.close() }

// SplitOfFolder returns the split that a folder's name stands for, as Val for "valid"; "" for other
// names.
func SplitOfFolder(name string) Split { return splitOf(name) }
