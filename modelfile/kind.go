package modelfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/serialize"
)

// IsNative reports whether path is a bnctl file: a template or a checkpoint. It returns
// false for a folder, and for a path that represents files with other names.
func IsNative(path string) (bool, error) {
	if standsForOthers(path) {
		return false, nil
	}
	f, err := regular.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 4)
	_, err = io.ReadFull(f, head)
	return err == nil && serialize.HasMagic(head), nil
}

// standsForOthers reports whether a path is a folder, or the name of a model that is stored
// in files with other names: a TensorFlow model, or several shards.
func standsForOthers(path string) bool { return isFolder(path) || formats.ShardFiles(path) != nil }

// isFolder reports whether there is a folder of that name.
func isFolder(path string) bool {
	info, err := os.Stat(regular.Resolve(path))
	return err == nil && info.IsDir()
}

// ReadGraphText returns the content of a file that holds a graph in text form, 32 MiB at
// most. It returns nil if the file holds something else, or if path is a folder or the
// name of several shards.
func ReadGraphText(path string) ([]byte, error) {
	const begins, most = "bnctl graph", 32 << 20
	if standsForOthers(path) {
		return nil, nil
	}
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, len(begins))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != begins {
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(head), f), most+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("%s: a graph of more than %d MiB", path, most>>20)
	}
	return text, err
}

// Digest returns the SHA-256 of the file that holds a model, in hexadecimal. For a model in
// several files, or in a folder, it is the hash of the names and digests of all files, in
// their order.
func Digest(path string) (string, error) {
	files := formats.ShardFiles(path)
	switch {
	case len(files) == 1:
		return digestFile(files[0])
	case files == nil && !isFolder(path):
		return digestFile(path)
	case files == nil:
		path = regular.Resolve(path)
		err := filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				files = append(files, p)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	h := sha256.New()
	for _, file := range files {
		sum, err := digestFile(file)
		if err != nil {
			return "", err
		}
		name := strings.TrimPrefix(file, path)
		if !isFolder(path) {
			name = string(filepath.Separator) + filepath.Base(file)
		}
		fmt.Fprintf(h, "%s %s\n", name, sum)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func digestFile(path string) (string, error) {
	f, err := regular.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}
