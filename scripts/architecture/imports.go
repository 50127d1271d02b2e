package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// module is the prefix of the paths of bnctl's packages.
const module = "github.com/bnctl/bnctl"

// graph has, for each folder, the folders that it needs.
type graph map[string]map[string]bool

// onlyTests is a package that only tests of plugins import. It trains on the device that the tests give it.
const onlyTests = "plugins/internal/bitwise"

// imports reads the Go files below root, except tests and examples. It returns for each top folder the top
// folders that it imports. The folders scripts and docs are left out, because they are not part of the
// program.
func imports(root string) (graph, error) {
	needs := graph{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return entered(name, filepath.ToSlash(rel))
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		return needs.read(name, folder(filepath.ToSlash(filepath.Dir(rel))))
	})
	return needs, err
}

// entered returns nil if a folder is part of the program, and otherwise fs.SkipDir.
func entered(name, rel string) error {
	base := filepath.Base(rel)
	_, nested := os.Stat(filepath.Join(name, "go.mod"))
	switch {
	case rel == ".":
		return nil
	case rel == "docs", rel == "scripts", rel == onlyTests, nested == nil, base == "testdata",
		strings.HasPrefix(base, "_"), strings.HasPrefix(base, "."):
		return fs.SkipDir
	}
	return nil
}

// read adds the imports of one file to the folder from, which contains it.
func (g graph) read(name, from string) error {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
	if err != nil {
		return err
	}
	if g[from] == nil {
		g[from] = map[string]bool{}
	}
	for _, spec := range f.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		rest, internal := strings.CutPrefix(path, module)
		if to := folder(strings.TrimPrefix(rest, "/")); internal && to != from {
			g[from][to] = true
		}
	}
	return nil
}

// folder returns the top folder of a path, or "bnctl" for the root folder.
func folder(path string) string {
	top, _, _ := strings.Cut(path, "/")
	if top == "" || top == "." {
		return "bnctl"
	}
	return top
}
