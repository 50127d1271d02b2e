package main

import (
	"strings"
	"testing"
)

// If the value of --level is not the name of a level, this is a misuse. An old release ignored it.
func TestLevelIsAWord(t *testing.T) {
	for _, args := range [][]string{{"predict", "m.bnm", "x.png", "--level", "shm"},
		{"plugin", "test", "./plugin", "--level", "fast"},
		{"predict", "m.bnm", "x.png", "--level", "stream/1,fast"}} {
		code, _, errs := evaluated(t, "", args...)
		if code != exitMisused || !strings.Contains(errs, "want one of stream/1, shm/1, coll.shm/1") {
			t.Errorf("%v: exit code %d, %s", args, code, errs)
		}
	}
}
