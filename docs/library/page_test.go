package library_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the programs into docs/library.md")

// quoted matches a program in the page: a comment with the name of its file, and then its text.
var quoted = regexp.MustCompile("(?s)<!-- ([a-z/_.]+) -->\n```go\n.*?```\n")

// The page contains each program as it is in its file, and no program is missing.
func TestPage(t *testing.T) {
	const page = "../library.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	want := quoted.ReplaceAllStringFunc(string(text), func(block string) string {
		name := quoted.FindStringSubmatch(block)[1]
		program, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, name)
		_, body, _ := strings.Cut(string(program), "\n\n")
		if strings.HasPrefix(name, "../examples/") {
			body = string(program)
		}
		return "<!-- " + name + " -->\n```go\n" + body + "```\n"
	})
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("%s differs from its programs; go test ./docs/library -run TestPage -update writes it", page)
	}
	if len(shown) != 16 {
		t.Errorf("%d programs are on the page, want 4 of docs/examples/library and 12: %v", len(shown), shown)
	}
}
