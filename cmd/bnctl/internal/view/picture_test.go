package view

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/bnctl/bnctl/internal/waiting"
	"github.com/bnctl/bnctl/train"
)

// The picture in README.md, and the log of the run that it shows. make picture-view writes both.
const (
	picture = "../../../../docs/view.svg"
	log     = "testdata/run.jsonl"
)

// TestPictureIsCurrent checks that the picture shows the stored run as the present program draws it.
func TestPictureIsCurrent(t *testing.T) {
	s := replayed(t, log)
	const columns = 100
	lines := s.Draw(waiting.Size{Columns: columns, Rows: 36}, true)
	for len(lines) > 0 && len(lines[0]) == 0 {
		lines = lines[1:] // without the blank line after the prompt
	}
	got := svg("bnctl train", lines, columns-1)
	if *keep {
		if err := os.WriteFile(picture, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what is shown now: go test ./cmd/bnctl/internal/view -run Picture -keep writes it", picture)
	}
}

// replayed returns the state of a run after four fifths of the events in its log.
func replayed(t *testing.T, path string) *State {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all [][]byte
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		all = append(all, slices.Clone(in.Bytes()))
	}
	s := &State{}
	var began time.Time
	for i, text := range all[:len(all)*4/5] {
		var head struct {
			Event string
			Time  time.Time
		}
		if err := json.Unmarshal(text, &head); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			began = head.Time.Add(-time.Second)
		}
		e := map[string]train.Event{"start": &train.Started{}, "step": &train.Stepped{}, "epoch": &train.EpochDone{},
			"device_lost": &train.DeviceLost{}, "device_back": &train.DeviceBack{}, "placed": &train.Placed{}}[head.Event]
		if e == nil {
			continue
		}
		if err := json.Unmarshal(text, e); err != nil {
			t.Fatal(err)
		}
		s.Elapsed = head.Time.Sub(began)
		s.Event(value(e), s.Elapsed)
	}
	return s
}

// value returns an event as a value, the form that runs report.
func value(e train.Event) train.Event {
	switch e := e.(type) {
	case *train.Started:
		return *e
	case *train.Stepped:
		return *e
	case *train.EpochDone:
		return *e
	case *train.DeviceLost:
		return *e
	case *train.DeviceBack:
		return *e
	case *train.Placed:
		return *e
	}
	return e
}
