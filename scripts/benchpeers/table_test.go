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
