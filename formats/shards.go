package formats

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// shardName matches the names of the files of a model in several files: each has some of
// its tensors.
var shardName = compiled(`^(.*)-([0-9]{5})-of-([0-9]{5})(\.(?:safetensors|bin|pt|pth|ckpt))$`)

const (
	indexEnding = ".index.json" // appended to the name that the model would have in one file
	maxIndex    = 64 << 20      // bytes
	maxShards   = 512           // all of them are open while tensors are read
)

// shards are the files of a model, all in one folder.
type shards struct {
	folder string
	files  []string          // their names, in their order
	fileOf map[string]string // file of each tensor; nil without an index
}

// findShards returns the files of the model for a path to an index, to one of the files, or
// to the folder of either. It returns nil if the path is a complete file.
func findShards(path string) (*shards, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil // opening it returns the error
	}
	if info.IsDir() {
		return inFolder(path)
	}
	if strings.HasSuffix(path, indexEnding) {
		return readIndex(path)
	}
	m := shardName().FindStringSubmatch(filepath.Base(path))
	if m == nil || m[3] == "00001" {
		return nil, nil
	}
	folder := filepath.Dir(path)
	index := filepath.Join(folder, m[1]+m[4]+indexEnding)
	if _, err := os.Stat(index); err == nil {
		if s, err := readIndex(index); err != nil || slices.Contains(s.files, filepath.Base(path)) {
			return s, err
		}
	}
	return numberedShards(path, m)
}

// inFolder finds the one model in a folder: stored in several files, or in one file under
// the name that Transformers and accelerate give it.
func inFolder(folder string) (*shards, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var indices, first []string
	for _, e := range entries {
		m := shardName().FindStringSubmatch(e.Name())
		switch {
		case strings.HasSuffix(e.Name(), indexEnding):
			indices = append(indices, e.Name())
		case m != nil && (m[2] == "00000" || m[2] == "00001" && !exists(folder, m[1]+"-00000-of-"+m[3]+m[4])):
			first = append(first, e.Name())
		}
	}
	const preferred = ".safetensors"
	for _, found := range [][]string{indices, first} {
		best := slices.DeleteFunc(slices.Clone(found), func(name string) bool {
			return !strings.HasSuffix(strings.TrimSuffix(name, indexEnding), preferred)
		})
		if len(best) == 0 {
			best = found
		}
		switch {
		case len(best) == 1:
			return findShards(filepath.Join(folder, best[0]))
		case len(best) > 1:
			return nil, problem.Advise("name one of them: "+foreign.List(best), "%s: holds %s of several files each",
				folder, problem.Plural(len(best), "model"))
		}
	}
	for _, name := range []string{"model.safetensors", "pytorch_model.bin"} {
		if exists(folder, name) {
			return &shards{folder: folder, files: []string{name}}, nil
		}
	}
	return nil, nil
}

func exists(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

// numberedShards returns the files of a model by the name of one of them; m has the parts
// of this name that shardName matches.
func numberedShards(path string, m []string) (*shards, error) {
	total, _ := strconv.Atoi(m[3]) // five digits
	mine, _ := strconv.Atoi(m[2])
	s := &shards{folder: filepath.Dir(path)}
	first := 1
	if mine == 0 || exists(s.folder, fmt.Sprintf("%s-00000-of-%s%s", m[1], m[3], m[4])) {
		first = 0 // some programs count from 0
	}
	for i := range min(total, maxShards+1) {
		s.files = append(s.files, fmt.Sprintf("%s-%05d-of-%s%s", m[1], first+i, m[3], m[4]))
	}
	return s, s.check(fmt.Sprintf("%s: part %s of %s of a model", path, m[2], m[3]))
}

// readIndex reads the index of a model in several files.
func readIndex(path string) (*shards, error) {
	b, err := regular.Read(path, maxIndex)
	if err != nil {
		return nil, err
	}
	var index struct {
		Files map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(b, &index); err != nil || len(index.Files) == 0 {
		return nil, problem.Failure("", path+": by its name the index of a model in several files, but it has no "+
			"weight_map", "name the file of the weights")
	}
	s := &shards{folder: filepath.Dir(path), files: slices.Compact(slices.Sorted(maps.Values(index.Files))),
		fileOf: index.Files}
	for _, name := range s.files {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
			return nil, problem.Failure("", fmt.Sprintf("%s: the index names %q, no file in its own folder", path,
				name), "put all files of the model into one folder, and name them so in the index")
		}
	}
	return s, s.check(fmt.Sprintf("%s: the index of a model in %s", path, problem.Plural(len(s.files), "file")))
}

// check rejects a model with missing files.
func (s *shards) check(kind string) error {
	if len(s.files) > maxShards {
		return fmt.Errorf("%s; at most %d files are supported", kind, maxShards)
	}
	missing := slices.DeleteFunc(slices.Clone(s.files), func(name string) bool { return exists(s.folder, name) })
	if len(missing) == 0 {
		return nil
	}
	return problem.Advise("put all of them into one folder", "%s; %s missing here: %s", kind,
		problem.Plural(len(missing), "file"), foreign.List(missing))
}

func (s *shards) paths() (list []string) {
	for _, name := range s.files {
		list = append(list, filepath.Join(s.folder, name))
	}
	return list
}

// reader returns the format of the files, and a reader that reads them as one.
func (s *shards) reader() (format string, joined reader, err error) {
	var shard reader
	for _, path := range s.paths() {
		of, r, err := recogniseFile(path)
		switch {
		case err != nil:
			return "", nil, err
		case of != "safetensors" && of != "torch":
			return "", nil, fmt.Errorf("%s: a part of a model, of format %s; only parts in safetensors and of "+
				"torch.save are read", path, of)
		case format != "" && format != of:
			return "", nil, fmt.Errorf("%s: of format %s, the parts before it of %s", path, of, format)
		}
		format, shard = of, r
	}
	return format, func(_ string, o Options) (*File, error) { return s.open(o, shard) }, nil
}

// open opens the files of the model as one File.
func (s *shards) open(o Options, shard reader) (*File, error) {
	if len(s.files) == 1 && s.fileOf == nil {
		return shard(s.paths()[0], o)
	}
	whole, from := &File{}, map[string]string{}
	for _, name := range s.files {
		f, err := shard(filepath.Join(s.folder, name), o)
		if err != nil {
			return nil, errors.Join(err, whole.Close())
		}
		whole.Owns(f)
		if err := s.add(whole, f, name, from); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", s.folder, err), whole.Close())
		}
	}
	if err := s.complete(from); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", s.folder, err), whole.Close())
	}
	whole.Find("", fmt.Sprintf("a model in %s: %s", problem.Plural(len(s.files), "file"),
		foreign.List(s.files)), "")
	return whole, nil
}

// add adds the tensors of one of the files to the whole, except those that the index places
// in another file.
func (s *shards) add(combined, f *File, name string, fileOf map[string]string) error {
	if len(fileOf) == 0 {
		combined.Format, combined.Key, combined.Keys, combined.Wrappers = f.Format, f.Key, f.Keys, f.Wrappers
	}
	for _, t := range f.Tensors {
		if file, listed := s.fileOf[t.Name]; listed && file != name {
			continue
		}
		if other := fileOf[t.Name]; other != "" {
			return problem.Advise(adviceRanks, "%q is in %s and in %s: they are no parts of one model, but perhaps "+
				"those of the ranks of a parallel one", t.Name, other, name)
		}
		fileOf[t.Name] = name
		combined.Tensors = append(combined.Tensors, t)
	}
	for _, c := range f.Counters { // each file has {"format": "pt"}
		if !slices.Contains(combined.Counters, c) {
			combined.Counters = append(combined.Counters, c)
		}
	}
	combined.Left, combined.Findings = append(combined.Left, f.Left...), append(combined.Findings, f.Findings...)
	if combined.Labels == nil {
		combined.Labels = f.Labels
	}
	return foreign.CheckTensors(combined.Tensors, math.MaxInt64-foreign.Slack)
}

// complete returns an error if a tensor of the index is missing in the files.
func (s *shards) complete(fileOf map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(s.fileOf)) {
		if fileOf[name] == "" {
			return fmt.Errorf("the index says that %q is in %s, which has no such tensor", name, s.fileOf[name])
		}
	}
	return nil
}
