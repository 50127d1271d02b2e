package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/scripts/internal/report"
)

// The measurement has the figures of the rows and the command that repeats it.
func TestMeasurement(t *testing.T) {
	b := &bench{options: options{rows: "infer", selected: "resnet20.*batch 8", rounds: 2, seconds: 0.5}}
	m := b.measurement([]result{{row: row{group: "infer", name: "n", unit: "img/s", must: 1.3, aim: 2},
		bnctl: report.Sample{3, 4}, theirs: report.Sample{2}, bestPeer: "X", before: probe{Gflops: 7}}})
	if want := "make bench-peers ROWS='infer' ONLY='resnet20.*batch 8'"; m.Command != want {
		t.Errorf("command %q, want %q", m.Command, want)
	}
	file := filepath.Join(t.TempDir(), "x.json")
	if err := m.Write(file); err != nil {
		t.Fatal(err)
	}
	got, err := report.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	want := report.Comparison{Group: "infer", Name: "n", Unit: "img/s", Must: 1.3, Aim: 2, Bnctl: report.Sample{3, 4},
		Against: "X", Theirs: report.Sample{2}, FMA: [2]float64{7, 0}}
	if len(got.Comparisons) != 1 || !reflect.DeepEqual(got.Comparisons[0], want) {
		t.Errorf("got %+v, want %+v", got.Comparisons, want)
	}
}

// Every row can be selected by a flag, and names the programs that it compares.
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
	if list, err := chosen(options{selected: "^resnet18, batch 8, 1"}); err != nil || len(list) != 1 {
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

// A peer that does not have the form of a row is left out of the row, and its name is noted. If no peer has
// the form, the row is an error.
func TestMissing(t *testing.T) {
	rate := func(v float64) func(*bench) (float64, error) {
		return func(*bench) (float64, error) { return v, nil }
	}
	lacking := side{"B", func(*bench) (float64, error) { return 0, missing{why: "no such form"} }}
	b := &bench{options: options{rounds: 2, bnctl: writeProbe(t)}}
	out, err := b.measure(t.Context(), row{unit: "img/s", threads: 1, bnctl: side{"bnctl", rate(3)},
		theirs: []side{lacking, {"C", rate(2)}}})
	if err != nil || out.bestPeer != "C" || out.ratio() != 1.5 {
		t.Errorf("got %g beside %s, %v; want 1.5 beside C", out.ratio(), out.bestPeer, err)
	}
	if len(b.lacks) != 1 || b.lacks[0] != "B: no such form" {
		t.Errorf("left out: %q", b.lacks)
	}
	r := row{bnctl: side{"bnctl", rate(3)}, theirs: []side{lacking}}
	if _, err := b.measure(t.Context(), r); err == nil {
		t.Error("a row without peers: no error")
	}
}

// A peer that is far slower than the best after one round is not measured again.
func TestNear(t *testing.T) {
	speed, span := row{}, row{lowerIsBetter: true}
	for _, c := range []struct {
		row
		s, other report.Sample
		want     bool
	}{{speed, report.Sample{70}, report.Sample{100}, true},
		{speed, report.Sample{69}, report.Sample{100}, false},
		{span, report.Sample{100}, report.Sample{70}, true}, {span, report.Sample{100}, report.Sample{69}, false},
		{speed, nil, report.Sample{100}, false}, {speed, report.Sample{1}, nil, true}} {
		if got := c.near(c.s, []report.Sample{c.s, c.other}); got != c.want {
			t.Errorf("%v beside %v, less %v: got %v", []float64(c.s), []float64(c.other), c.lowerIsBetter, got)
		}
	}
}

// writeProbe writes a program that answers the probe of the machine like bnctl.
func writeProbe(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bnctl")
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho '{\"gflops\": 1}'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// A peer that ends without an answer is left out of the row, and started again for the next question.
func TestPeerThatEnds(t *testing.T) {
	b := &bench{ctx: t.Context(), options: options{patience: time.Minute}, peers: map[string]*peer{}}
	defer b.close()
	program := []string{"sh", "-c", `echo '{"peer":"P","version":"1"}'; read line
case $line in *dies*) exit 1;; esac; echo '{"images_per_s":7}'`}
	var none missing
	if _, err := b.askRate(map[string]any{"model": "dies"}, nil, program...); !errors.As(err, &none) ||
		!strings.Contains(none.why, "dies") {
		t.Errorf("got %v, want a missing form that names the question", err)
	}
	if v, err := b.askRate(map[string]any{"model": "x"}, nil, program...); err != nil || v != 7 {
		t.Errorf("got %g, %v", v, err)
	}
}

// A peer that does not answer in time is killed together with its child processes. It is not measured again,
// not even with another number of threads, and the table names it in the row.
func TestPeerThatIsLate(t *testing.T) {
	b := &bench{options: options{rounds: 2, bnctl: writeProbe(t), patience: 100 * time.Millisecond},
		peers: map[string]*peer{}, overdue: map[string]bool{}}
	defer b.close()
	slow := torch("slow", "train", "m", 8, 1, "compiled", func(*bench) ([]string, error) {
		return []string{"sh", "-c", `echo '{"peer":"P","version":"1"}'; read line; sleep 600; echo late`, "sh"}, nil
	})
	quick := side{"quick", func(*bench) (float64, error) { return 2, nil }}
	began := time.Now()
	out, err := b.measure(t.Context(), row{unit: "img/s", threads: 1, bnctl: quick, theirs: []side{slow, quick}})
	if err != nil || out.bestPeer != "quick" || len(out.overdue) != 1 || out.overdue[0] != "slow" {
		t.Errorf("got %v late beside %s, %v", out.overdue, out.bestPeer, err)
	}
	if _, err = slow.measure(b); err == nil || len(b.peers) > 0 || time.Since(began) > time.Minute {
		t.Errorf("%v; %d peers are left after %v", err, len(b.peers), time.Since(began))
	}
	if c := b.measurement([]result{out}).Compared("", true); !strings.Contains(c, "too late for an answer: slow |") {
		t.Errorf("the table does not name it:\n%s", c)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.ctx, b.overdue = ctx, map[string]bool{}
	if _, err := slow.measure(b); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
