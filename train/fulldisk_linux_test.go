package train

import (
	"github.com/bnctl/bnctl/recipe"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A full disk is reported at once, and only once. When there is space again the metrics continue after the
// truncated line.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no device that is always full: ", err)
	}
	defer full.Close()
	var notes []string
	folder := t.TempDir()
	b, err := OpenBoard(folder, func(text string) { notes = append(notes, text) })
	if err != nil {
		t.Fatal(err)
	}
	b.Show(Started{Recipe: recipe.Default("mlp-bn")})
	b.Show(Stepped{Step: 1})
	lines, table := b.metrics.lines.file, b.metrics.table.file
	if _, err := lines.WriteString(`{"event":"st`); err != nil { // the part of a line that had space
		t.Fatal(err)
	}
	b.metrics.lines.torn = true
	b.metrics.lines.file, b.metrics.table.file = full, full
	b.Show(Stepped{Step: 2})
	b.Show(Stepped{Step: 3})
	if len(notes) != 1 || !strings.Contains(notes[0], "no space left on device; figures are missing there") {
		t.Errorf("notes %q", notes)
	}
	b.metrics.lines.file, b.metrics.table.file = lines, table
	b.Show(Stepped{Step: 4})
	b.Show(EpochDone{Epoch: 1})
	if err := b.Close(); err == nil || len(notes) != 1 {
		t.Errorf("%v, notes %q: figures are missing", err, notes)
	}
	want := append(events("start", 0, "step", 1), append([]string{"cut"}, events("step", 4, "epoch", 1)...)...)
	if got := linesOf(t, filepath.Join(folder, "metrics.jsonl")); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%q, want %q", got, want)
	}
}
