package house

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// TestPagesAreShort: the results and the changelog stay within their lengths. A word has a letter or a
// digit. Tables whose details nobody compares are counted: see scripts/results.
func TestPagesAreShort(t *testing.T) {
	for _, c := range []struct {
		pages string
		most  int
	}{
		{"docs/results/*.md", 12_000},
		{"CHANGELOG.md", 1_200},
	} {
		list, err := filepath.Glob(c.pages)
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %v", c.pages, err)
		}
		words := 0
		for _, path := range list {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range strings.Fields(string(text)) {
				if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
					words++
				}
			}
		}
		if words > c.most {
			t.Errorf("%s: %d words, at most %d: count details instead of printing them, or shorten the text", c.pages,
				words, c.most)
		}
	}
}
