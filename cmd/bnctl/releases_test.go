package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
)

// TestFilesOfReleases checks that this release reads the files of each release (scripts/release/goldens.sh).
// The template gives the stored predictions, and the checkpoint can be stripped to a template that predicts.
// The release that made the checkpoint resumes it to the same bytes. Another release refuses to resume it:
// the error names both releases and gives advice, and nothing is changed.
func TestFilesOfReleases(t *testing.T) {
	folders, err := filepath.Glob("testdata/releases/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no release is kept: %v", err)
	}
	for _, folder := range folders {
		release := filepath.Base(folder)
		t.Run(release, func(t *testing.T) {
			template, checkpoint := filepath.Join(folder, "tiny.bnm"), filepath.Join(t.TempDir(), "middle.bnc")
			kept := contents(t, filepath.Join(folder, "middle.bnc"))
			if err := os.WriteFile(checkpoint, kept, 0o666); err != nil {
				t.Fatal(err)
			}
			near(t, answersOf(t, template), string(contents(t, filepath.Join(folder, "answers.csv"))))
			stripped := filepath.Join(t.TempDir(), "stripped.bnm")
			says(t, exitDone, "", "strip", checkpoint, "-o", stripped)
			answersOf(t, stripped)

			resumed := filepath.Join(t.TempDir(), "resumed.bnm")
			resume := []string{"train", "--quiet", "--resume", checkpoint, "--devices", "cpu", "-o", resumed}
			if release == recipe.Release {
				says(t, exitDone, "", resume...)
				if !bytes.Equal(contents(t, resumed), contents(t, template)) {
					t.Error("the run that was stopped has another template: if bits were meant to change, goldens.sh keeps the new ones")
				}
				return
			}
			says(t, exitMisused, release, resume...)
			if !bytes.Equal(contents(t, checkpoint), kept) {
				t.Error("the checkpoint that was refused has changed")
			}
		})
	}
}

// TestCheckpointOfAnotherRelease checks that this release refuses to resume a checkpoint of an earlier
// release, and gives advice.
func TestCheckpointOfAnotherRelease(t *testing.T) {
	checkpoint := ofAnotherRelease(t, "testdata/releases/"+recipe.Release+"/middle.bnc", "0.0")
	text := says(t, exitMisused, "0.0", "train", "--quiet", "--resume", checkpoint, "--devices", "cpu", "-o",
		filepath.Join(t.TempDir(), "x.bnm"))
	for _, word := range []string{recipe.Release, "the release that wrote the checkpoint", "--init"} {
		if !strings.Contains(text, word) {
			t.Errorf("%q does not say %q", text, word)
		}
	}
}

// TestCheckpointOfAnotherNumber checks a checkpoint where a part of training has a number that this
// release does not have. It is refused, and the error names the number. In a recipe with numbers the release
// itself does not matter.
func TestCheckpointOfAnotherNumber(t *testing.T) {
	folder := t.TempDir()
	checkpoint, out := filepath.Join(folder, "m.bnc"), filepath.Join(folder, "m.bnm")
	says(t, exitDone, "", "train", "--quiet", "--model", "mlp-bn", "--data", "glyphs:16", "--batch", "8",
		"--replicas", "2", "--steps", "2", "--devices", "ref", "-o", out)
	for _, c := range []struct {
		is, other, want string
		code            int
	}{
		{`"order/1"`, `"order/2"`,
			"the recipe needs part order/2, and release 0.1 has order/1; use a newer release", exitMisused},
		{`"ref/1"`, `"ref/7"`, "the recipe needs kernel class ref/7, and release 0.1 has ref/1", exitMisused},
		{`"release":"` + recipe.Release, `"release":"0.0`, "", exitDone},
	} {
		k, err := serialize.ReadCheckpoint(checkpoint)
		if err != nil || !bytes.Contains(k.Recipe, []byte(c.is)) {
			t.Fatalf("%v: the recipe %s has no %s", err, k.Recipe, c.is)
		}
		k.Recipe = bytes.Replace(k.Recipe, []byte(c.is), []byte(c.other), 1)
		path := filepath.Join(t.TempDir(), "other.bnc")
		if err := serialize.WriteCheckpoint(path, k); err != nil {
			t.Fatal(err)
		}
		says(t, c.code, c.want, "train", "--quiet", "--resume", path, "--devices", "ref", "-o",
			filepath.Join(folder, "again.bnm"))
	}
}

// ofAnotherRelease writes a copy of a checkpoint that seems to be from the given release.
func ofAnotherRelease(t *testing.T, path, release string) string {
	t.Helper()
	c, err := serialize.ReadCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	is, other := `"release":"`+recipe.Release+`"`, `"release":"`+release+`"`
	if !bytes.Contains(c.Recipe, []byte(is)) {
		t.Fatalf("%s: the recipe has no %s", path, is)
	}
	c.Recipe = bytes.Replace(c.Recipe, []byte(is), []byte(other), 1)
	path = filepath.Join(t.TempDir(), "other.bnc")
	if err := serialize.WriteCheckpoint(path, c); err != nil {
		t.Fatal(err)
	}
	return path
}

// contents returns the bytes of a file.
func contents(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// says runs bnctl, and returns its output. bnctl must end with the given exit code, and the output must
// contain text.
func says(t *testing.T, code int, text string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(context.Background(), append([]string{"bnctl"}, args...), &out, &errs); got != code ||
		!strings.Contains(errs.String(), text) {
		t.Fatalf("bnctl %v: exit %d, want %d and %q\n%s", args, got, code, text, errs.String())
	}
	return out.String() + errs.String()
}

func answersOf(t *testing.T, model string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "answers.csv")
	says(t, exitDone, "", "predict", model, "glyphs:8", "--logits", "-o", path, "--quiet")
	return string(contents(t, path))
}

// near compares tables of numbers with a tolerance. Different releases give the same predictions, but only
// within one release results are promised to have the same bits.
func near(t *testing.T, is, was string) {
	t.Helper()
	a, errA := csv.NewReader(strings.NewReader(is)).ReadAll()
	b, errB := csv.NewReader(strings.NewReader(was)).ReadAll()
	if errA != nil || errB != nil || len(a) != len(b) || len(a) < 2 {
		t.Fatalf("%v, %v: %d and %d lines", errA, errB, len(a), len(b))
	}
	for i := range a {
		for j := range a[i] {
			x, errX := strconv.ParseFloat(a[i][j], 64)
			y, errY := strconv.ParseFloat(b[i][j], 64)
			if errX != nil || errY != nil {
				if a[i][j] != b[i][j] {
					t.Errorf("line %d: %q, was %q", i+1, a[i][j], b[i][j])
				}
			} else if math.Abs(x-y) > 1e-5*max(1, math.Abs(y)) {
				t.Errorf("line %d: %g, was %g", i+1, x, y)
			}
		}
	}
}
