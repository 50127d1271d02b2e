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

// TestDocsNameFilesThatExist: a file that the comment of doc.go names is there, from
// the root of the module, from the package's folder, or below plugins/cpu/internal,
// from which the walk in plugins/cpu/doc.go names files.
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
				if !isFile(file, path.Join(folder, file), path.Join("plugins/cpu/internal", file)) {
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

// isFile reports whether there is a file at one of the paths.
func isFile(paths ...string) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		info, err := os.Stat(p)
		return err == nil && info.Mode().IsRegular()
	})
}
