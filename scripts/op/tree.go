package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// tree has the words that occur in every place, by the path of the place. For a folder these are the words in
// its Go files except tests.
type tree map[string]words

type words map[string]bool

// readTree reads all places below root.
func readTree(root string) (tree, error) {
	t := tree{}
	for _, p := range locations {
		t[p.path] = words{}
		path := filepath.Join(root, p.path)
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || file != path && !isSource(file) {
				return err
			}
			text, err := os.ReadFile(file)
			t[p.path].add(string(text))
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%w: run it in the root of the repository", err)
		}
	}
	return t, nil
}

func isSource(file string) bool {
	return strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go")
}

// add adds the words of text. A name with a package in front of it is one word.
func (w words) add(text string) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		w[strings.Trim(word, ".")] = true
	}
}

// has reports whether a place mentions o: by its constant in package graph, by its constant with the package
// name in other Go code, and by its name in other texts.
func (t tree) has(p location, o operation) bool {
	w := t[p.path]
	switch {
	case strings.HasPrefix(p.path, "graph/") && strings.HasSuffix(p.path, ".go"):
		return w[o.constant] || w["graph."+o.constant]
	case filepath.Ext(p.path) == "" && !strings.Contains(p.path, "/testdata/"):
		return w["graph."+o.constant]
	}
	return w[o.name] || w["OP_"+strings.ToUpper(o.name)]
}

// missing returns the places that must mention o and do not.
func (t tree) missing(o operation) []location {
	return slices.DeleteFunc(slices.Clone(locations), func(p location) bool {
		return p.note != "" || !p.applies(o) || t.has(p, o)
	})
}

// print writes the places of o, and reports whether o is missing in one of them.
func (t tree) print(o operation) bool {
	fmt.Println(o.name)
	for _, p := range locations {
		state, what := "has it", p.content
		switch {
		case !t.has(p, o) && p.note != "":
			state, what = "-", what+", "+p.note
		case !t.has(p, o) && !p.applies(o):
			continue
		case !t.has(p, o):
			state = "MISSING"
		}
		fmt.Printf("  %-8s %-47s %s\n", state, p.path, what)
	}
	return len(t.missing(o)) > 0
}
