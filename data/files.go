package data

import (
	"context"
)

// Files has the files of a data set, which is a folder or an archive.
type Files struct {
	All  []File
	tree *tree
}

// File is one of these files. Name has slashes, and is relative to the folder or archive.
type File struct {
	Name string
	Read func() ([]byte, error) // its errors do not contain the name

	prefetch func() // starts to read a file on another machine; else nil
}

// OpenFiles lists those files of a folder, .tar, .tar.gz or .zip that keep accepts. It has the limits of
// every data source: links that point outside of an archive, archive bombs and huge files are errors. Files
// with a name that begins with a dot never count.
func OpenFiles(ctx context.Context, path string, keep func(name string) bool) (*Files, error) {
	t, err := openTree(ctx, path, keep)
	if err != nil {
		return nil, err
	}
	f := &Files{tree: t}
	for _, m := range t.members {
		f.All = append(f.All, File{m.name, m.read, m.prefetch})
	}
	return f, nil
}

// Close closes the archive. Read must not be called afterwards.
func (f *Files) Close() error { return f.tree.close() }

// SplitOfFolder returns the split that the name of a folder represents, like Val for "valid", or "" for other
// names.
func SplitOfFolder(name string) Split { return splitOf(name) }
