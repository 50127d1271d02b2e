package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestConvert: each module that a report affects has the report in its index, once.
func TestConvert(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	text := `{"id":"GO-2025-1","modified":"2025-02-03T00:00:00Z","affected":[{"package":{"name":"stdlib"}},
		{"package":{"name":"stdlib"}},{"package":{"name":"example.com/m"}}]}`
	if err := os.WriteFile(filepath.Join(from, "GO-2025-1.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := convert(from, to); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"ID/GO-2025-1.json": text,
		"index/db.json":     `{"modified":"2025-02-03T00:00:00Z"}`,
		"index/modules.json": `[{"path":"example.com/m","vulns":[{"id":"GO-2025-1","modified":"2025-02-03T00:00:00Z"}]},` +
			`{"path":"stdlib","vulns":[{"id":"GO-2025-1","modified":"2025-02-03T00:00:00Z"}]}]`,
	} {
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
	if err := convert(t.TempDir(), to); err == nil {
		t.Error("a folder without reports is accepted")
	}
}
