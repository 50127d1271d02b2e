package house

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// oddPhrases matches phrases that compress a sentence, or that describe code as a person or
// a place. A single one is not an error. Their density shows how far a package is from
// plain English; the Go standard library and well-known projects have about 30 per 10,000
// words.
var oddPhrases = regexp.MustCompile(strings.Join([]string{
	`\b(?:that|those) of\b`, `\bof which\b`, `\b(?:to|in|from|by|at|with|on|for) which\b`, `\bwhose\b`,
	`\b[Ww]hat (?:is|are|was|were|has|have|only|a|an|the|it|they|others|follows|comes|cannot|no|all|each|one` +
		`|remains|lies|stands|goes|belongs|makes|reads|runs)\b`,
	`\b(?:nobody|none)\b`, `\b(?:is|are|be|was) no [a-z]+`, `\b(?:says?|said)\b`, `\b(?:lies?|lay|lain)\b`,
	`\bstands?\b`, `\bbehind\b`, `\bbeside\b`, `\btakes?\b`, `\b(?:go|goes|going|went) on\b`,
	`\b(?:tells?|told)\b`, `\bown\b`, `\bsuch\b`, `\bas many\b`,
}, "|"))

// proseFile has a line per package: its folder and the odd phrases in its comments per 10,000 words.
const proseFile = "internal/house/testdata/prose.txt"

var updateProse = flag.Bool("update-prose", false, "write the present figures to "+proseFile)

// TestProse compares the density of odd phrases in each package's comments with proseFile. A density
// must not rise. go test ./internal/house -run TestProse -update-prose records densities that fell.
func TestProse(t *testing.T) {
	now := proseDensities(t)
	if *updateProse {
		writeProse(t, now)
	}
	text, err := os.ReadFile(proseFile)
	if err != nil {
		t.Fatal(err)
	}
	recorded := map[string]int{}
	for line := range strings.Lines(string(text)) {
		var folder string
		var density int
		if _, err := fmt.Sscan(line, &folder, &density); err != nil {
			t.Fatalf("%s: %q: %v", proseFile, line, err)
		}
		recorded[folder] = density
	}
	for folder, density := range now {
		if most := max(recorded[folder], plainProse); density > most {
			t.Errorf("%s: %d odd phrases per 10,000 words of comments, at most %d: rewrite the new comments in "+
				"plain English", folder, density, most)
		}
	}
}

// plainProse is the maximum density of a package that counts as plain English. Lower densities may rise.
const plainProse = 30

func writeProse(t *testing.T, densities map[string]int) {
	var b strings.Builder
	for _, folder := range slices.Sorted(maps.Keys(densities)) {
		fmt.Fprintln(&b, folder, densities[folder])
	}
	if err := os.WriteFile(proseFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// proseDensities returns the odd phrases per 10,000 words of comments by folder, rounded up.
func proseDensities(t *testing.T) map[string]int {
	words, phrases := map[string]int{}, map[string]int{}
	eachGoFile(t, func(name string) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		folder := path.Dir(name)
		for line := range strings.Lines(string(text)) {
			if c, ok := commentOf(strings.TrimRight(line, "\n")); ok {
				words[folder] += len(strings.Fields(c))
				phrases[folder] += len(oddPhrases.FindAllString(c, -1))
			}
		}
	})
	densities := map[string]int{}
	for folder, n := range words {
		densities[folder] = int(math.Ceil(1e4 * float64(phrases[folder]) / float64(max(n, 1))))
	}
	return densities
}

// lineComment matches a comment at the start of a line or after code.
var lineComment = regexp.MustCompile(`(?:^|\s)//(.*)$`)

// commentOf returns the text of the comment in a line, unless it is a directive or a licence.
func commentOf(line string) (string, bool) {
	m := lineComment.FindStringSubmatch(line)
	if m == nil || strings.HasPrefix(m[1], "go:") || strings.Contains(m[1], "Code generated") ||
		strings.Contains(m[1], "Copyright") || strings.Contains(m[1], "Licensed under") {
		return "", false
	}
	return m[1], true
}

// eachGoFile calls f with every Go file that people write, tests included.
func eachGoFile(t *testing.T, f func(name string)) {
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "bin" || d.Name() == ".git"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".pb.go") ||
			strings.Contains(name, "_stub_"):
			return nil
		}
		f(name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// verbFirst matches a doc comment of the form "name verbs ...", with an optional article.
var verbFirst = regexp.MustCompile(`^(?:(?:A|An|The) )?([a-z]\w*) [a-z]+s\b`)

// TestDocCommentsNameTheirDeclaration finds doc comments that begin with the name of another declaration, as
// after a rename.
func TestDocCommentsNameTheirDeclaration(t *testing.T) {
	for name, comment := range docComments(t) {
		m := verbFirst.FindStringSubmatch(comment)
		declared := name[strings.LastIndex(name, " ")+1:]
		if m == nil || m[1] == declared || m[1] == "a" || m[1] == "an" || m[1] == "the" || m[1] == "it" ||
			m[1] == "its" || strings.HasPrefix(declared, "Test") || strings.HasPrefix(declared, "Example") ||
			strings.HasPrefix(declared, "Fuzz") || strings.HasPrefix(declared, "Benchmark") {
			continue
		}
		if !strings.Contains(comment[:len(m[0])], "The ") && !strings.HasPrefix(comment, "A ") {
			t.Errorf("%s: its doc comment begins with %q", name, m[1])
		}
	}
}

// docComments returns the doc comments of all declarations by position and name.
func docComments(t *testing.T) map[string]string {
	all := map[string]string{}
	seen := map[string]bool{}
	eachGoFile(t, func(name string) {
		folder := path.Dir(name)
		if seen[folder] {
			return
		}
		seen[folder] = true
		set := token.NewFileSet()
		for _, f := range parsed(t, set, folder, parser.ParseComments, func(string) bool { return true }) {
			note := func(id *ast.Ident, doc *ast.CommentGroup) {
				if doc != nil {
					all[set.Position(id.Pos()).String()+" "+id.Name] = doc.Text()
				}
			}
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					note(d.Name, d.Doc)
				case *ast.GenDecl:
					if len(d.Specs) == 1 && !d.Lparen.IsValid() {
						noteSpec(d.Specs[0], d.Doc, note)
					}
				}
			}
		}
	})
	return all
}

func noteSpec(s ast.Spec, doc *ast.CommentGroup, note func(*ast.Ident, *ast.CommentGroup)) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		note(s.Name, doc)
	case *ast.ValueSpec:
		if len(s.Names) == 1 {
			note(s.Names[0], doc)
		}
	}
}
