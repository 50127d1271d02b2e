package house

import (
	"go/parser"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// namedFile is a file of the tree, as a package comment names it.
var namedFile = regexp.MustCompile(`[\w./-]*\w\.(go|s|cl|md|sh|proto)\b`)

// othersFiles are files of other programs that package comments name.
var othersFiles = []string{"caffe.proto"}

// TestDocsNameFilesThatExist checks that a file named in the comment of doc.go exists: its
// path begins at the root of the module, or at any folder below the package.
func TestDocsNameFilesThatExist(t *testing.T) {
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Base(name) != "doc.go" {
			return err
		}
		folder := path.Dir(name)
		_, files := sources(t, folder, parser.ParseComments|parser.PackageClauseOnly)
		for _, f := range files {
			for _, file := range namedFile.FindAllString(f.Doc.Text(), -1) {
				if slices.Contains(othersFiles, file) || strings.HasPrefix(file, "github.com/") {
					continue
				}
				if !isFile(file) && !below(folder, file) {
					t.Errorf("%s: the package comment names %s, which is not there", folder, file)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// below reports whether the path file exists, relative to folder or to some folder below it.
func below(folder, file string) bool {
	found := false
	_ = fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && isFile(path.Join(folder, name, file)) {
			found = true
			return fs.SkipAll
		}
		return err
	})
	return found
}
