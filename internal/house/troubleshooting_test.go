package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// quotedMessage is a heading of docs/troubleshooting.md that quotes a message.
var quotedMessage = regexp.MustCompile("(?m)^### `(.*)`$")

// seams matches the places where the parts of a message are joined: values, a text and its advice, a device
// and its error.
var seams = regexp.MustCompile(` ?(\.\.\.|[:;()]) ?`)

// options are the forms in which packages write text that the command prints as a flag or a
// subcommand.
var options = []struct {
	printed *regexp.Regexp
	code    string
}{{regexp.MustCompile(`--([a-z-]+)`), "{$1}"}, {regexp.MustCompile(`bnctl ([a-z]+) ([a-z]+)\b`), "{$1-$2}"},
	{regexp.MustCompile(`bnctl ([a-z]+)`), "{$1}"}}

// TestTroubleshootingQuotesMessages: the parts of the messages of docs/troubleshooting.md are in the code.
func TestTroubleshootingQuotesMessages(t *testing.T) {
	page, err := os.ReadFile("docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := literals(t)
	headings := quotedMessage.FindAllStringSubmatch(string(page), -1)
	if len(headings) < 20 {
		t.Errorf("only %d messages were found", len(headings))
	}
	for _, m := range headings {
		for _, part := range seams.Split(m[1], -1) {
			found := strings.Contains(texts, part)
			for _, o := range options {
				found = found || strings.Contains(texts, o.printed.ReplaceAllString(part, o.code))
			}
			if !found {
				t.Errorf("docs/troubleshooting.md quotes %q: no text of the code has %q", m[1], part)
			}
		}
	}
}

// verb matches a verb of fmt.
var verb = regexp.MustCompile(`%[-+#0-9.]*[a-z]`)

// literals returns the texts of all code but tests, one a line, values left out.
func literals(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if s, ok := joined(e); ok {
					b.WriteString(verb.ReplaceAllString(s, "...") + "\n")
					return false
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// joined returns a text that is written as one literal, or as several with plus between them.
func joined(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := joined(e.X)
		right, too := joined(e.Y)
		return left + right, ok && too && e.Op == token.ADD
	}
	return "", false
}
