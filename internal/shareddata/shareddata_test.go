package shareddata

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFolder(t *testing.T) {
	t.Setenv(Variable, "")
	path, _ := Folder()
	if want, _ := filepath.Abs("../../../shared/data"); path != want {
		t.Errorf("the folder is %s, want %s", path, want)
	}
	set := t.TempDir()
	t.Setenv(Variable, set)
	if path, ok := Folder(); path != set || !ok {
		t.Errorf("the folder is %s (%v), want %s", path, ok, set)
	}
	t.Setenv(Variable, filepath.Join(set, "absent"))
	if path, ok := Folder(); ok {
		t.Errorf("%s is said to be there", path)
	}
}

func TestFile(t *testing.T) {
	set := t.TempDir()
	t.Setenv(Variable, set)
	want := filepath.Join(set, "labels.txt")
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := File(t, "labels.txt"); got != want {
		t.Errorf("the file is %s, want %s", got, want)
	}
	t.Run("absent", func(t *testing.T) {
		defer func() {
			if !t.Skipped() {
				t.Error("a test without its data is not skipped")
			}
		}()
		File(t, "absent")
	})
}
