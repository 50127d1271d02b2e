package recipefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRecipeBombs checks text where a YAML parser would need minutes or all memory. It must be refused
// quickly, with a reason.
func TestRecipeBombs(t *testing.T) {
	laughs := "recipe:\n  a: &a [1, 1, 1, 1, 1, 1, 1, 1]\n"
	for _, c := range "bcdefghij" {
		laughs += "  " + string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+", ", 8) + "]\n"
	}
	for name, text := range map[string]string{
		"brackets": strings.Repeat("[", 200_000), "few brackets": "recipe: " + strings.Repeat("[", 2000),
		"braces": strings.Repeat("{", 60_000), "closed": "a: " + strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000),
		"entries": strings.Repeat("- ", 30_000), "few entries": strings.Repeat("- ", 4000),
		"keys": strings.Repeat("? ", 30_000), "tags": strings.Repeat("!a ", 20_000),
		"values": strings.Repeat("a: ", 20_000), "few values": strings.Repeat("a: ", 2000),
		"laughs": laughs, "zeros": strings.Repeat("\x00", 1<<20),
	} {
		path := filepath.Join(t.TempDir(), "bomb.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := Read(path); err == nil {
			t.Errorf("%s: read", name)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
	}
}
