package recipefile

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPresets checks that each preset can be read. It is printed with some options replaced, and read again.
// It must then have the same options with the replacements in their place, and without the options that val
// or steps replaces.
func TestPresets(t *testing.T) {
	for _, name := range Presets() {
		f, text, err := Preset(name)
		if err != nil || len(f.Recipe) < 8 || len(f.Run) != 0 {
			t.Fatalf("%s: %v, %v", name, f, err)
		}
		if got := f.Text(text); got != string(text) {
			t.Errorf("%s: printed it is\n%s", name, got)
		}
		f.Without(func(option string) bool { return option == "val" || option == "steps" })
		maps.Copy(f.Recipe, map[string]string{"lr": "0.25", "freeze": "a.*,*b", "steps": "9", "class-weights": "1,2",
			"momentum": "1e-05", "labels": `a "b", #c`})
		f.Run = map[string]string{"data": "folder:a b", "val": "csv:x.csv@test", "threads": "-1"}
		path := filepath.Join(t.TempDir(), "r.yaml")
		if err := os.WriteFile(path, []byte(f.Text(text)), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if err != nil || !maps.Equal(got.Recipe, f.Recipe) || !maps.Equal(got.Run, f.Run) {
			t.Errorf("%s: %v\n%s\nread %v", name, err, f.Text(text), got)
		}
		if !strings.Contains(f.Text(text), "  save: best") || strings.Contains(f.Text(text), "val-split") {
			t.Errorf("%s:\n%s", name, f.Text(text))
		}
	}
	if _, _, err := Preset("photo"); err == nil || !strings.Contains(err.Error(), "want one of photos") {
		t.Errorf("%v", err)
	}
	empty := File{Recipe: map[string]string{"batch": "8"}}
	if got := empty.Text(nil); got != "recipe:\n  batch: 8\n" {
		t.Errorf("without a preset %q", got)
	}
}
