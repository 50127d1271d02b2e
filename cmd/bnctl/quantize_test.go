package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// If ranges of values are not measured, flags about measuring them are errors.
func TestQuantizeMeasuresNothing(t *testing.T) {
	for _, flag := range []string{"--samples=4", "--method=minmax", "--batch=2", "--devices=ref"} {
		code, _, errs := evaluated(t, "quantize", "quantize", "m.bnm", "-o", filepath.Join(t.TempDir(), "q.bnm"), flag)
		name, _, _ := strings.Cut(flag, "=")
		if code != exitMisused || !strings.Contains(errs, name+" means nothing here: without --data") {
			t.Errorf("%s: exit %d: %s", flag, code, errs)
		}
	}
}
