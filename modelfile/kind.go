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

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/serialize"
)

// Own reports whether a file is one of bnctl's: a template or a checkpoint. A
// folder is not.
func Own(path string) (bool, error) {
	if isFolder(path) {
		return false, nil
	}
	f, err := regular.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 4)
	_, err = io.ReadFull(f, head)
	return err == nil && serialize.Claims(head), nil
}

// isFolder reports whether there is a folder of that name.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// GraphText returns the content of a file that holds a graph in text form, 32
// MiB at most; nil if it holds something else, or is a folder.
func GraphText(path string) ([]byte, error) {
	const begins, most = "bnctl graph", 32 << 20
	if isFolder(path) {
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

// Digest returns the SHA-256 of a file, in hexadecimal; of a folder, that of
// the names and digests of all its files, in their order.
func Digest(path string) (string, error) {
	h := sha256.New()
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		err = filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			sum, err := Digest(p)
			fmt.Fprintf(h, "%s %s\n", strings.TrimPrefix(p, path), sum)
			return err
		})
	} else {
		var f *os.File
		if f, err = regular.Open(path); err != nil {
			return "", err
		}
		defer f.Close()
		_, err = io.Copy(h, f)
	}
	return hex.EncodeToString(h.Sum(nil)), err
}
