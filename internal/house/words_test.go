package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// dailyWords are everyday words that each had several technical meanings, as names, and
// their replacements in docs/glossary.md.
var dailyWords = map[string]string{
	"room": "memory, capacity, buffer, reservation", "rooms": "buffers",
	"place": "slot, offset, index, position", "places": "slots, offsets",
	"part": "range, chunk, block, split, operand", "parts": "ranges, chunks, blocks, splits",
	"share": "range, fraction; broadcast", "shares": "ranges, fractions",
	"kept": "stored, retained, cached", "held": "locked, stored, reserved",
	"own": "native, local, exclusive", "ours": "native",
	"beside": "next to, in addition to", "besides": "extra",
	"ending": "epilogue, extension, end", "endings": "epilogues, extensions",
	"late": "stale, delayed, overdue", "lateness": "staleness",
	"settle": "resolve, drain", "settled": "resolved, drained", "settles": "resolves",
	"hear": "observe", "heard": "observed", "blame": "attribute",
	"shown": "printed, sent", "called": "name", "unsaid": "ambiguous", "sure": "verified",
	"lease": "reservation", "keeper": "updater", "slain": "killed", "struck": "signalled", "doomed": "aborted",
	"hush": "close", "wide": "unpacked, float32",
}

// turns are phrases that comments must not have, and their replacements.
var turns = []struct {
	phrase  *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\bbut for\b`), "except for"},
	{regexp.MustCompile(`\banew\b`), "again"},
	{regexp.MustCompile(`\bfor ever\b`), "without end"},
	{regexp.MustCompile(`(?i)\b(of|for|by|to|from|in|at|wakes|with|lets|asks) who(ever)?\b`), "the one that: name it"},
	{regexp.MustCompile(`(^|[.;:] )[Ww]ho(ever)? [^?]*$`), "the one that: name it"},
	{regexp.MustCompile(`\bnone is\b`), "no X is"},
	{regexp.MustCompile(`\b(makes?|made|making|no|is|has|be|take|takes|finds?) room\b`), "memory, space"},
}

// TestWords checks names and comments against docs/glossary.md: code without tests declares no name that
// is a word of daily life, and comments, also of tests, have none of its phrases.
func TestWords(t *testing.T) {
	seen := map[string]bool{}
	for line := range strings.Lines(layers) {
		pkg, _, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || seen[pkg] {
			continue
		}
		seen[pkg] = true
		for _, f := range wordsOf(t, pkg) {
			t.Error(f)
		}
	}
}

// wordsOf returns the words and phrases of a package that break the rules of the glossary.
func wordsOf(t *testing.T, pkg string) (findings []string) {
	set, files := sources(t, pkg, parser.ParseComments)
	note := func(p token.Pos, text string) {
		findings = append(findings, set.Position(p).String()+": "+text)
	}
	for _, f := range files {
		if ast.IsGenerated(f) {
			continue
		}
		declared(f, func(id *ast.Ident) {
			if instead, ok := dailyWords[strings.ToLower(id.Name)]; ok {
				note(id.Pos(), "the name "+id.Name+" has several meanings; say "+instead)
			}
		})
	}
	for _, f := range append(files, testFiles(t, set, pkg)...) {
		if ast.IsGenerated(f) {
			continue
		}
		for _, group := range f.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			for _, turn := range turns {
				if got := turn.phrase.FindString(text); got != "" {
					note(group.Pos(), "the comment says \""+got+"\"; say "+turn.instead)
				}
			}
		}
	}
	return findings
}

// declared calls each with the names that a file declares: of types, functions,
// fields, parameters, constants and variables.
func declared(f *ast.File, each func(*ast.Ident)) {
	all := func(ids []*ast.Ident) {
		for _, id := range ids {
			each(id)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			each(n.Name)
		case *ast.TypeSpec:
			each(n.Name)
		case *ast.ValueSpec:
			all(n.Names)
		case *ast.Field:
			all(n.Names)
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				for _, e := range []ast.Expr{n.Key, n.Value} {
					if id, ok := e.(*ast.Ident); ok {
						each(id)
					}
				}
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					if id, ok := e.(*ast.Ident); ok {
						each(id)
					}
				}
			}
		}
		return true
	})
}
