package repository

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bnctl/bnctl/problem"
)

// File is the file of a version of a model.
type File struct {
	Name    string
	Version int
	Path    string
	Size    int64
	Time    time.Time // time of the last change
}

// templateExtension is the extension of templates. model is the name, without extension, of a model file in
// the folder of its version.
const (
	templateExtension = ".bnm"
	model             = "model"
)

// extensions are the extensions that a model file in the folder of a version may have. The first file that
// exists is served. The names of the files are Triton's.
var extensions = []string{templateExtension, ".onnx", ".keras", ".h5", ".pt", ".pth", ".safetensors"}

// found is the result of a scan: files of models, and the reasons why other files are skipped.
type found struct {
	files   []File
	skipped []string
	unread  []string // models with files that could not be read
}

// noteUnread records that a file of a model cannot be read: it may still exist.
func (f *found) noteUnread(name, path string, err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		f.unread = append(f.unread, name)
	}
	f.skip("%s is skipped: %v", path, err)
}

func (f *found) skip(format string, args ...any) {
	f.skipped = append(f.skipped, fmt.Sprintf(format, args...))
}

// scan returns the versions that p selects at the paths. Models are in the order of being found, and
// the versions of a model are sorted, the highest first. A path is a model file (version 1 of the model with
// its name), the folder of a model, or a folder of models.
func scan(paths []string, p Policy) (*found, error) {
	all, models := &found{}, map[string][]File{}
	var names []string
	for _, path := range paths {
		at, err := scanPath(path)
		if err != nil {
			return nil, err
		}
		all.skipped, all.unread = append(all.skipped, at.skipped...), append(all.unread, at.unread...)
		for _, f := range at.files {
			for _, other := range models[f.Name] {
				if other.Version == f.Version {
					return nil, problem.Advise("give one another name",
						"%s and %s are both version %d of the model %s", other.Path, f.Path, f.Version,
						f.Name)
				}
			}
			if models[f.Name] == nil {
				names = append(names, f.Name)
			}
			models[f.Name] = append(models[f.Name], f)
		}
	}
	for _, name := range names {
		all.files = append(all.files, p.take(models[name])...)
	}
	return all, nil
}

// scanPath returns the models at a path: a file, the folder of a model, or a folder of models.
func scanPath(path string) (*found, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, missing(path, err)
	}
	f := &found{}
	name := filepath.Base(path)
	if !info.IsDir() {
		f.files = append(f.files, fileOf(strings.TrimSuffix(name, filepath.Ext(name)), 1, path, info))
		return f, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	if whole, err := filepath.Abs(path); err == nil {
		name = filepath.Base(whole)
	}
	if f.versions(name, path, entries); len(f.files) > 0 {
		return f, nil
	}
	models := &found{}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			models.entry(e.Name(), filepath.Join(path, e.Name()))
		}
	}
	if len(models.files) == 0 && len(f.skipped) > 0 {
		return f, nil // the path is the folder of a model without valid versions
	}
	return models, nil
}

// entry adds an entry of a folder of models.
func (f *found) entry(name, path string) {
	info, err := os.Stat(path)
	switch {
	case err != nil: // the file was just removed, or a dangling link, or a disk error
		f.noteUnread(strings.TrimSuffix(name, templateExtension), path, err)
	case !info.IsDir() && strings.HasSuffix(name, templateExtension):
		f.files = append(f.files, fileOf(strings.TrimSuffix(name, templateExtension), 1, path, info))
	case !info.IsDir() && slices.Contains(extensions, filepath.Ext(name)):
		f.skip("%s is skipped: a folder holds NAME%s, or NAME/VERSION/%s%s; put it there, or name the file itself",
			path, templateExtension, model, filepath.Ext(name))
	case info.IsDir():
		f.folder(name, path)
	}
}

// folder adds the folder of a model.
func (f *found) folder(name, path string) {
	entries, err := os.ReadDir(path)
	if err != nil {
		f.noteUnread(name, path, err)
		return
	}
	before := len(f.files)
	if f.versions(name, path, entries); len(f.files) == before {
		f.skip("%s is skipped: it has no version, a folder 1, 2, ... with %s%s or %[2]s.onnx", path, model,
			templateExtension)
	}
}

// missing returns a shorter error if the error is that a path does not exist.
func missing(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such file or folder", path)
	}
	return err
}

// versions adds the versions in the folder of a model.
func (f *found) versions(name, folder string, entries []fs.DirEntry) {
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch v := version(e.Name()); {
		case v > 0:
			f.version(name, v, path)
		case e.Name() == "config.pbtxt":
			f.skip("%s is not read: the model defines its inputs and outputs, and options the rest", path)
		case strings.Trim(e.Name(), "0123456789") == "":
			f.skip("%s is skipped: a version is a whole number from 1 on, without zeros in front", path)
		}
	}
}

// version adds a version of a model: the file in its folder with the first of the extensions.
func (f *found) version(name string, v int, folder string) {
	var taken, other string
	for _, end := range extensions {
		path := filepath.Join(folder, model+end)
		info, err := os.Stat(path)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			f.noteUnread(name, path, err)
		case err != nil || info.IsDir():
		case taken == "":
			taken = path
			f.files = append(f.files, fileOf(name, v, path, info))
		default:
			f.skip("%s is skipped: %s is served", path, taken)
		}
	}
	if taken != "" || slices.Contains(f.unread, name) {
		return
	}
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), model+".") {
			other = e.Name()
		}
	}
	switch {
	case errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrNotExist):
	case err != nil:
		f.skip("%s is skipped: %v", folder, err)
	case other != "":
		f.skip("%s is skipped: it is none of %s", filepath.Join(folder, other),
			model+strings.Join(extensions, ", "+model))
	default:
		f.skip("%s is skipped: there is no %s%s or %[2]s.onnx in it", folder, model, templateExtension)
	}
}

func fileOf(name string, version int, path string, info fs.FileInfo) File {
	return File{name, version, path, info.Size(), info.ModTime()}
}
