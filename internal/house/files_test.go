package house

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFilesOfTheRoot checks that the files of the root package form layers: if a file refers to a
// declaration of another file, directly or through further files, the other file never refers back.
func TestFilesOfTheRoot(t *testing.T) {
	refers := fileReferences(t, ".")
	if len(refers["open.go"]) == 0 {
		t.Fatal("open.go refers to no other file: the references were not found")
	}
	for len(refers) > 0 {
		before := len(refers)
		for file, to := range refers {
			if !slices.ContainsFunc(to, func(other string) bool { return refers[other] != nil }) {
				delete(refers, file)
			}
		}
		if len(refers) == before {
			for _, file := range slices.Sorted(maps.Keys(refers)) {
				t.Errorf("%s is in or above a circle of references: it refers to %s", file,
					strings.Join(refers[file], ", "))
			}
			return
		}
	}
}

// fileReferences returns, for each file of the package in a folder, the other files with declarations
// that it refers to. Imported packages are not read.
func fileReferences(t *testing.T, folder string) map[string][]string {
	t.Helper()
	p, err := build.ImportDir(folder, 0)
	if err != nil {
		t.Fatal(err)
	}
	set, refers := token.NewFileSet(), map[string][]string{}
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(folder, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files, refers[name] = append(files, f), []string{}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	c := types.Config{Importer: emptyPackages{}, Error: func(error) {}} // ignores unknown imported names
	of, _ := c.Check(p.Name, set, files, info)
	for id, use := range info.Uses {
		_, method := use.(*types.Func)
		if use.Pkg() != of || use.Parent() != of.Scope() && !method {
			continue
		}
		from := filepath.Base(set.Position(id.Pos()).Filename)
		to := filepath.Base(set.Position(use.Pos()).Filename)
		if from != to && !slices.Contains(refers[from], to) {
			refers[from] = append(refers[from], to)
		}
	}
	return refers
}

// emptyPackages is an importer of packages without declarations.
type emptyPackages struct{}

func (emptyPackages) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p, nil
}
