package bnctl_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/serialize/chain"
)

var updateParts = flag.Bool("update-parts", false, "write testdata/parts.txt: after a part got a new number")

const partsFile = "testdata/parts.txt"

// TestPartsKeepTheirBits trains small recipes that together use all parts of training, with the reference
// kernels of class ref/1. testdata/parts.txt has a line for each recipe, with the version numbers of its
// parts and the digest of its chain. If a digest changes and the numbers do not, a part computes other bits
// under its old number.
func TestPartsKeepTheirBits(t *testing.T) {
	alone(t)
	var lines []string
	for _, c := range []struct {
		name, data string
		change     func(*recipe.Recipe)
	}{
		{"cosine", "glyphs:24", func(*recipe.Recipe) {}},
		{"adam", "glyphs:24", func(r *recipe.Recipe) {
			r.Optimizer, r.LR, r.Schedule, r.EMA = "adam", 0.001, "poly:2", 0.9
		}},
		{"adamw", "glyphs:24", func(r *recipe.Recipe) {
			r.Optimizer, r.LR, r.Schedule, r.BNPrecise = "adamw", 0.001, "onecycle:0.4", 16
		}},
		{"lars", "glyphs:24", func(r *recipe.Recipe) {
			r.Optimizer, r.ClipNorm, r.Schedule, r.Warmup = "lars", 0.5, "step:1", 1
		}},
		{"plateau", "glyphs:24", func(r *recipe.Recipe) {
			r.Schedule, r.Nesterov, r.Augment = "plateau:1", true, augmentation.MustParse("crop flip rotate erase")
		}},
		{"replica", "glyphs:24", func(r *recipe.Recipe) {
			r.BN, r.BNUpdate, r.Sampling = bn.Replica, "async:2", "balanced"
		}},
		{"posthoc", "glyphs:24", func(r *recipe.Recipe) {
			r.BN, r.BNUpdate, r.WeightSync = bn.Replica, bn.PostHoc, "periodic:2"
		}},
		{"late", "glyphs:24", func(r *recipe.Recipe) {
			r.BN, r.WeightSync, r.Schedule = bn.Replica, "async:2", "constant"
		}},
		{"mixed", "glyphs:24", func(r *recipe.Recipe) { r.Augment = augmentation.MustParse("jitter trivial mixup:0.2 cutmix:1") }},
		{"randaugment", "glyphs:24", func(r *recipe.Recipe) { r.Augment = augmentation.MustParse("resizedcrop randaugment:2,9") }},
	} {
		o := bnctl.TrainOptions{Model: "mlp-bn", Data: c.data, Validation: "glyphs:8",
			Output: filepath.Join(t.TempDir(), "m.bnm"), Fleet: fleet.Options{Devices: "ref"}}
		err := trainAs(t.Context(), o, func(r *recipe.Recipe) {
			r.Epochs, r.Batch, r.Replicas = 2, 8, 2
			c.change(r)
		})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		m, err := serialize.ReadModel(o.Output)
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(chain.Path(o.Output))
		if err != nil {
			t.Fatal(err)
		}
		links, err := chain.Parse(file)
		if err != nil || links.Seal(m.Recipe) != m.Chain {
			t.Fatalf("%s: the chain is not that of the template: %v", c.name, err)
		}
		r, err := recipe.Parse(m.Recipe)
		if err != nil {
			t.Fatal(err)
		}
		numbers := strings.Join(append(r.Classes, r.Numbers...), " ")
		lines = append(lines, fmt.Sprintln(c.name, links.Digest(), numbers))
	}
	compareParts(t, lines)
}

// compareParts compares lines with the lines of partsFile.
func compareParts(t *testing.T, lines []string) {
	t.Helper()
	if *updateParts {
		if err := os.WriteFile(partsFile, []byte(strings.Join(lines, "")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(partsFile)
	if err != nil {
		t.Fatal(err)
	}
	was := strings.SplitAfter(string(b), "\n")
	for i, line := range lines {
		if i >= len(was) || line != was[i] {
			t.Errorf("the recipe gives other bits:\n%swas\n%s. Give the part that changed the next number in package "+
				"parts, with an ADR and a line in docs/promises.md, and run this test with -update-parts", line,
				strings.Join(was[min(i, len(was)):min(i+1, len(was))], ""))
		}
	}
}
