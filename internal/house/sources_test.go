package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// sources parses the Go files of a folder, without tests. It fails if there are none.
func sources(t *testing.T, folder string, mode parser.Mode) (*token.FileSet, []*ast.File) {
	t.Helper()
	set := token.NewFileSet()
	files := parsed(t, set, folder, mode, func(name string) bool { return !strings.HasSuffix(name, "_test.go") })
	if len(files) == 0 {
		t.Fatalf("no Go files in %s", folder)
	}
	return set, files
}

// testFiles parses the test files of a folder, with their comments.
func testFiles(t *testing.T, set *token.FileSet, folder string) []*ast.File {
	t.Helper()
	return parsed(t, set, folder, parser.ParseComments, func(name string) bool {
		return strings.HasSuffix(name, "_test.go")
	})
}

// parsed parses the Go files of a folder with names that are wanted.
func parsed(t *testing.T, set *token.FileSet, folder string, mode parser.Mode,
	wanted func(name string) bool) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !wanted(name) {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, mode)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}
