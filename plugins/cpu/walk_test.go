package cpu

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWalk checks that every file and every name in the section "From a node to assembly" of doc.go exists.
func TestWalk(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	stop := regexp.MustCompile(`(?m)^//\t(\S+\.(?:go|s)) +(\S+) +\S`)
	stops := stop.FindAllStringSubmatch(string(doc), -1)
	if len(stops) < 20 {
		t.Fatalf("the walk has %d stops", len(stops))
	}
	for _, s := range stops {
		file, name := filepath.Join("internal", s[1]), regexp.QuoteMeta(s[2])
		if strings.HasPrefix(s[1], "device/") {
			file = filepath.Join("..", "..", s[1])
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		declared := regexp.MustCompile(`(?m)^(func (\([^)]*\) )?` + name + `\b|var ` + name + `\b|\t` + name +
			` += |TEXT ·` + name + `\()`)
		if !declared.Match(text) {
			t.Errorf("%s: there is no %s", s[1], s[2])
		}
	}
}
