package tensorflow

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// dataName matches the names of files of elements.
var dataName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.+)\.data-[0-9]{5}-of-[0-9]{5}$`)
})

// Locate returns the index file of the checkpoint at a path, if path is not the index
// itself. The path may be TensorFlow's name for a checkpoint, model.ckpt-1000, which does
// not exist as a file; one of its files of elements; the file named checkpoint, which names
// the latest; or a folder with one checkpoint, which may be a SavedModel. Locate returns ""
// for any other path.
func Locate(path string) (string, error) {
	info, err := os.Stat(path)
	prefix := path
	switch m := dataName().FindStringSubmatch(path); {
	case err == nil && info.IsDir():
		return find(path)
	case err == nil && filepath.Base(path) == stateFile:
		return latest(path)
	case m != nil:
		prefix = m[1]
		if !isFile(prefix + ".index") {
			return "", problem.Advise("put it beside this file",
				"%s: elements of a TensorFlow checkpoint, without its index: %s is missing", path, prefix+".index")
		}
	case err == nil && strings.HasSuffix(path, ".meta"):
		if prefix = strings.TrimSuffix(path, ".meta"); isFile(prefix + ".index") {
			return "", problem.Advise("name "+prefix+".index",
				"%s: the graph of a TensorFlow checkpoint, without weights", path)
		}
		return "", nil
	case err == nil:
		return "", nil
	}
	if isFile(prefix + ".index") {
		return prefix + ".index", nil
	}
	return "", nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// find returns the index of the one checkpoint in a folder, or "".
func find(folder string) (string, error) {
	var found []string
	for _, pattern := range []string{"*.index", "variables/variables.index"} {
		names, err := filepath.Glob(filepath.Join(escape(folder), pattern))
		if err != nil {
			return "", err
		}
		found = append(found, names...)
	}
	if len(found) > 1 {
		advice := "name one of the .index files: " + strings.Join(found[:min(len(found), 4)], ", ")
		if last, err := latest(filepath.Join(folder, stateFile)); err == nil && last != "" {
			advice = fmt.Sprintf("name one of the .index files; the latest, as the file %s says, is %s", stateFile,
				last)
		}
		return "", problem.Advise(advice, "%s: holds %d checkpoints", folder, len(found))
	}
	if len(found) == 0 {
		return "", nil
	}
	return found[0], nil
}

// escape keeps a path from being read as a pattern.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// stateFile is the file where TensorFlow records the latest checkpoint of a folder.
const stateFile = "checkpoint"

// latestName matches the first line of a file checkpoint.
var latestName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*model_checkpoint_path:\s*"([^"\\]+)"`)
})

// latest returns the index of the checkpoint that a file called checkpoint names. It looks
// for the index in the folder of that file, because paths to other folders apply to the
// machine that trained. It returns "" if the file does not name a checkpoint.
func latest(path string) (string, error) {
	f, err := regular.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return "", err
	}
	m := latestName().FindSubmatch(head)
	if m == nil {
		return "", nil
	}
	name := string(m[1])
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	index := filepath.Join(filepath.Dir(path), name+".index")
	if name == "" || !isFile(index) {
		return "", problem.Advise("name the .index file of another one",
			"%s: says that the latest checkpoint is %q, and %s is missing", path, name, index)
	}
	return index, nil
}
