package help

import (
	"strings"
	"testing"
)

// Folded lines are not too long, words are unbroken and in their order, and examples are unchanged.
func TestFold(t *testing.T) {
	const text = "OPTIONS:\n   --init FILE      take the weights from FILE, of bnctl or another one, by name\n" +
		"   predict     a model's answers for images, folders, archives, .npy files or a data source\n" +
		"      bnctl train --model lenet-bn --data glyphs --val glyphs --epochs 20 --batch 128\n\nshort\n"
	got := Fold(text, 60)
	if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(text), " ") {
		t.Errorf("other words:\n%s", got)
	}
	for line := range strings.Lines(got) {
		if len(line) > 61 && !strings.Contains(line, "bnctl train") {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if !strings.Contains(got, "   --init FILE\n         take the weights") ||
		!strings.Contains(got, "--epochs 20 --batch 128\n\nshort\n") {
		t.Errorf("got\n%s", got)
	}
	if got := Fold(text, 200); got != text {
		t.Errorf("a wide terminal has\n%s", got)
	}
}
