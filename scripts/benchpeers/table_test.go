package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		s    sample
		want float64
	}{{nil, 0}, {sample{3}, 3}, {sample{1, 4}, 2.5}, {sample{1, 2, 9}, 2}} {
		if got := c.s.median(); got != c.want {
			t.Errorf("%v: got %g, want %g", []float64(c.s), got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	speed := row{group: "infer", unit: "img/s", must: 1.3, aim: 2}
	time := row{group: "infer", unit: "s", less: true, must: 1.3, aim: 2}
	var out strings.Builder
	printGroup(&out, []result{
		{row: speed, ours: sample{300}, theirs: sample{100}},
		{row: time, ours: sample{4}, theirs: sample{3}},
		{row: time, ours: sample{4}, theirs: sample{6}},
	})
	for _, want := range []string{"| 3.00 |", "| 0.75 |", "geometric mean of 3** (least 0.75) | | | **1.50**"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

// Every row can be picked, and names what it compares.
func TestRows(t *testing.T) {
	for _, g := range groups() {
		list, err := chosen(options{rows: g})
		if err != nil || len(list) == 0 {
			t.Errorf("%s: %d rows, %v", g, len(list), err)
		}
		for _, r := range list {
			if r.threads == 0 || r.unit == "" || (len(r.theirs) == 0) != (r.note != "") {
				t.Errorf("%s: incomplete", r.name)
			}
		}
	}
	if _, err := chosen(options{rows: "infer,nothing"}); err == nil {
		t.Error("an unknown group: no error")
	}
	if list, err := chosen(options{only: "^resnet18, batch 8, 1"}); err != nil || len(list) != 1 {
		t.Errorf("-only of one row: %d rows, %v", len(list), err)
	}
}

func TestWriteImage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.npy")
	if err := writeImage(file, 8); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if header := len(b) - 3*8*8; header%64 != 0 || b[header-1] != '\n' {
		t.Errorf("a header of %d bytes, want a multiple of 64 that ends in a newline", header)
	}
}

// A peer that lacks a form is left out of the row and named; a row that no peer has is an error.
func TestMissing(t *testing.T) {
	rate := func(v float64) func(*bench) (float64, error) {
		return func(*bench) (float64, error) { return v, nil }
	}
	lacking := side{"B", func(*bench) (float64, error) { return 0, missing{"no such form"} }}
	b := &bench{options: options{rounds: 2, bnctl: writeProbe(t)}}
	out, err := b.measure(t.Context(), row{unit: "img/s", threads: 1, ours: side{"bnctl", rate(3)},
		theirs: []side{lacking, {"C", rate(2)}}})
	if err != nil || out.against != "C" || out.ratio() != 1.5 {
		t.Errorf("got %g beside %s, %v; want 1.5 beside C", out.ratio(), out.against, err)
	}
	if len(b.lacks) != 1 || b.lacks[0] != "B: no such form" {
		t.Errorf("left out: %q", b.lacks)
	}
	if _, err := b.measure(t.Context(), row{ours: side{"bnctl", rate(3)}, theirs: []side{lacking}}); err == nil {
		t.Error("a row without peers: no error")
	}
}

// A side that is far behind after one round is not measured again.
func TestNear(t *testing.T) {
	speed, span := row{}, row{less: true}
	for _, c := range []struct {
		row
		s, other sample
		want     bool
	}{{speed, sample{70}, sample{100}, true}, {speed, sample{69}, sample{100}, false},
		{span, sample{100}, sample{70}, true}, {span, sample{100}, sample{69}, false},
		{speed, nil, sample{100}, false}, {speed, sample{1}, nil, true}} {
		if got := c.near(c.s, []sample{c.s, c.other}); got != c.want {
			t.Errorf("%v beside %v, less %v: got %v", []float64(c.s), []float64(c.other), c.less, got)
		}
	}
}

// writeProbe writes a program that answers what the probe of a row asks.
func writeProbe(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bnctl")
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho '{\"gflops\": 1}'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}
