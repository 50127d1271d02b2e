package repository

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bnctl/bnctl/problem"
)

// File is the file of a version of a model.
type File struct {
	Name    string
	Version int
	Path    string
	Size    int64
	Time    time.Time // of the last change
}

// ending is that of templates, and model the name that one has in the folder of
// its version.
const (
	ending = ".bnm"
	model  = "model" + ending
)

// scan returns what p takes of what is at the paths, by model in the order in
// which they were found, highest version first. A path is a file of a model,
// which is version 1 under its name without the ending, or a folder of models.
func scan(paths []string, p Policy) ([]File, error) {
	found := map[string][]File{}
	var names []string
	for _, path := range paths {
		files, err := at(path)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			for _, other := range found[f.Name] {
				if other.Version == f.Version {
					return nil, problem.Advise("give one another name",
						"%s and %s are both version %d of the model %s", other.Path, f.Path, f.Version,
						f.Name)
				}
			}
			if found[f.Name] == nil {
				names = append(names, f.Name)
			}
			found[f.Name] = append(found[f.Name], f)
		}
	}
	var all []File
	for _, name := range names {
		all = append(all, p.take(found[name])...)
	}
	return all, nil
}

// at returns the models at a path.
func at(path string) ([]File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, missing(path, err)
	}
	if !info.IsDir() {
		name := filepath.Base(path)
		return []File{fileOf(strings.TrimSuffix(name, filepath.Ext(name)), 1, path, info)}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		inside := filepath.Join(path, e.Name())
		info, err := os.Stat(inside)
		switch {
		case err != nil: // it went just now, or is a link to nowhere
		case info.IsDir():
			files = append(files, versions(e.Name(), inside)...)
		case strings.HasSuffix(e.Name(), ending):
			files = append(files, fileOf(strings.TrimSuffix(e.Name(), ending), 1, inside, info))
		}
	}
	return files, nil
}

// missing says in short that there is nothing.
func missing(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such file or folder", path)
	}
	return err
}

// versions returns the versions of a model in its folder.
func versions(name, folder string) (files []File) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		v := version(e.Name())
		if v == 0 {
			continue
		}
		path := filepath.Join(folder, e.Name(), model)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			files = append(files, fileOf(name, v, path, info))
		}
	}
	return files
}

func fileOf(name string, version int, path string, info fs.FileInfo) File {
	return File{name, version, path, info.Size(), info.ModTime()}
}
