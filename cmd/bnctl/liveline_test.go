package main

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bnctl/bnctl/train"
)

// At every width the live line fits, holds whole fields only, and ETA longest.
func TestLiveLine(t *testing.T) {
	fields := liveFields(train.Stepped{Epoch: 12, Step: 12345, Throughput: 2652.4, Loss: 0.1234,
		Accuracy: 0.9876, Remaining: 3725, InputWait: 0.02, SyncWait: 0.31})
	whole := []string{"epoch 12", "step 12345", "2652 img/s", "loss 0.1234", "accuracy 98.8 %", "ETA 1h2m5s",
		"input 2 %", "sync 31 %"}
	if got, want := fitted(fields, 200), strings.Join(whole, "  "); got != want {
		t.Fatalf("%q, want %q", got, want)
	}
	before := 0
	for columns := -5; columns <= 120; columns++ {
		line := fitted(fields, columns)
		if line == "" {
			if columns >= len("ETA 1h2m5s") {
				t.Errorf("nothing is shown in %d columns", columns)
			}
			continue
		}
		parts := strings.Split(line, "  ")
		for _, p := range parts {
			if !slices.Contains(whole, p) {
				t.Errorf("%d columns show %q", columns, p)
			}
		}
		if utf8.RuneCountInString(line) > columns || !slices.Contains(parts, "ETA 1h2m5s") || len(parts) < before {
			t.Errorf("%d columns show %q", columns, line)
		}
		before = len(parts)
	}
}
