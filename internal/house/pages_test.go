package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// use matches the word that introduces, in a package comment, when to use the package and when
// another one.
var use = regexp.MustCompile(`\b[Uu]se\b`)

// TestPackagesSayWhatTheyAreFor checks that every package has a package comment. The
// comment of a package that others may import explains when to use it, and example_test.go
// shows its use: go doc then shows a complete page.
func TestPackagesSayWhatTheyAreFor(t *testing.T) {
	folders := map[string]bool{}
	for line := range strings.Lines(layers) {
		if folder, _, ok := strings.Cut(line, ":"); ok {
			folders[strings.TrimSpace(folder)] = true
		}
	}
	for folder := range folders {
		said, example := page(t, folder)
		if !said {
			t.Errorf("%s has no package comment that says what it is for, and when to use it", folder)
		}
		if !example {
			t.Errorf("%s has no Example in example_test.go: show its use in a few lines", folder)
		}
	}
}

// page reports whether a package has a comment, and whether it has an Example. A package
// that others do not import needs no Example.
func page(t *testing.T, folder string) (said, example bool) {
	files, err := filepath.Glob(folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	internal := slices.Contains(strings.Split(folder, "/"), "internal")
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		internal = internal || f.Name.Name == "main"
		if !strings.HasSuffix(name, "_test.go") {
			said = said || f.Doc != nil && (internal || use.MatchString(f.Doc.Text()))
		}
		if filepath.Base(name) != "example_test.go" {
			continue
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			example = example || ok && strings.HasPrefix(fn.Name.Name, "Example") && fn.Doc != nil
		}
	}
	return said, example || internal
}
