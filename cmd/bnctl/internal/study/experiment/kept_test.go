package experiment

import (
	"os"
	"path/filepath"
	"testing"
)

// The tables and plots of studies in the folder docs match their stored results. The command `bnctl study bn
// -o docs/study --measure nothing` writes them, and the page.
func TestKeptStudiesAreCurrent(t *testing.T) {
	const docs = "../../../../../docs"
	for _, name := range []string{"study", "study-segment", "study-detect"} {
		r, err := Read(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}
		made := t.TempDir()
		if _, err := Write(made, r); err != nil {
			t.Fatal(err)
		}
		files, err := os.ReadDir(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.Name() == results || f.Name() == "index.html" {
				continue
			}
			got, err := os.ReadFile(filepath.Join(docs, name, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join(made, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("docs/%s/%s is not what its results give: run bnctl study bn -o docs/%s --measure nothing",
					name, f.Name(), name)
			}
		}
	}
}
