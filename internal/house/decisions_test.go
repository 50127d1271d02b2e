package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDecisionsAreShort checks that a page of docs/adr has its status and date in its third
// line, and records its decision on one page. The inner workings of a part belong in
// docs/design.
func TestDecisionsAreShort(t *testing.T) {
	const most = 420 // words of a page, at most
	status := regexp.MustCompile(`^Status: (accepted|proposed|superseded by \S+), \d{4}-\d\d-\d\d\.$`)
	list, err := filepath.Glob("docs/adr/*.md")
	if err != nil || len(list) == 0 {
		t.Fatal(len(list), err)
	}
	for _, name := range list {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitN(string(b), "\n", 4)
		if len(lines) < 4 || !status.MatchString(lines[2]) {
			t.Errorf("%s: its third line is no \"Status: accepted, 2026-11-26.\"", name)
		}
		if n := len(strings.Fields(string(b))); n > most {
			t.Errorf("%s has %d words, want %d at most: what is design belongs in docs/design", name, n, most)
		}
	}
}
