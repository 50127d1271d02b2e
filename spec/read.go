package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// Sums is the name of the file that lists the SHA-256 of every other file, as sha256sum does.
const Sums = "SHA256SUMS"

// again is the advice about a damaged folder.
const again = "copy the folder spec of this release again"

// Open reads the vectors of a folder, sorted by name. It compares every file with its sum.
func Open(folder fs.FS) ([]*Vector, error) { return reader{folder: folder}.open() }

// reader reads a folder of vectors.
type reader struct {
	folder    fs.FS
	partial   bool // listed files may be absent
	unchecked bool // files may have other sums than the listed ones
}

func (r reader) open() ([]*Vector, error) {
	sums, err := r.sums()
	if err != nil {
		return nil, err
	}
	var all []*Vector
	err = fs.WalkDir(r.folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".json" {
			return err
		}
		v, err := r.vector(name, sums)
		if err != nil {
			return err
		}
		all = append(all, v)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, r.complete(sums, all)
}

// sums returns the list of sums by the names of files.
func (r reader) sums() (map[string]string, error) {
	text, err := fs.ReadFile(r.folder, Sums)
	if err != nil {
		return nil, problem.Advise("name the folder spec of a release",
			"there are no vectors: %w", err)
	}
	sums := map[string]string{}
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		sum, name, ok := strings.Cut(line, "  ")
		if !ok || len(sum) != 2*sha256.Size || !fs.ValidPath(name) {
			return nil, problem.Advise(again, "%s: line %d is not a sum and a name", Sums, i+1)
		}
		sums[name] = sum
	}
	return sums, nil
}

// vector reads the vector that a JSON file describes.
func (r reader) vector(name string, sums map[string]string) (*Vector, error) {
	text, err := r.file(name, sums)
	if err != nil {
		return nil, err
	}
	v := &Vector{}
	if err := json.Unmarshal(text, v); err != nil {
		return nil, problem.Advise(again, "%s: %w", name, err)
	}
	if v.Schema != Schema {
		return nil, problem.Advise("use a release of bnctl that reads it", "%s: schema %d; this release reads %d",
			name, v.Schema, Schema)
	}
	if want := strings.TrimSuffix(name, ".json"); v.Name != want || !strings.HasPrefix(v.Name, v.Class+"/") {
		return nil, problem.Advise(again, "%s: it describes vector %q of class %q", name, v.Name, v.Class)
	}
	for _, a := range v.arrays() {
		file := path.Join(path.Dir(name), a.File)
		elements, err := r.file(file, sums)
		if err != nil {
			return nil, err
		}
		if err := a.decode(elements); err != nil {
			return nil, problem.Advise(again, "%s: %w", file, err)
		}
	}
	return v, nil
}

// arrays returns all operands and results.
func (v *Vector) arrays() []*Array {
	var all []*Array
	for i := range v.Operands {
		all = append(all, &v.Operands[i].Array)
	}
	for i := range v.Results {
		all = append(all, &v.Results[i].Array)
	}
	return all
}

// file returns the content of a file that has the listed sum.
func (r reader) file(name string, sums map[string]string) ([]byte, error) {
	b, err := fs.ReadFile(r.folder, name)
	if err != nil {
		return nil, problem.Advise(again, "%w", err)
	}
	sum := sha256.Sum256(b)
	if sums[name] != hex.EncodeToString(sum[:]) && !r.unchecked {
		return nil, problem.Advise(again, "%s: its SHA-256 is not the one in %s", name, Sums)
	}
	return b, nil
}

// complete checks that every listed file is part of a vector.
func (r reader) complete(sums map[string]string, vectors []*Vector) error {
	if len(vectors) == 0 {
		return problem.Failure("", "the folder has no vectors", again)
	}
	if r.partial {
		return nil
	}
	var have []string
	for _, v := range vectors {
		have = append(have, v.Name+".json")
		for _, a := range v.arrays() {
			have = append(have, path.Join(path.Dir(v.Name), a.File))
		}
	}
	slices.Sort(have)
	for name := range sums {
		if _, ok := slices.BinarySearch(have, name); !ok && path.Ext(name) != ".md" {
			return problem.Failure("", fmt.Sprintf("%s: %s lists it, and no vector has it", name, Sums), again)
		}
	}
	return nil
}
