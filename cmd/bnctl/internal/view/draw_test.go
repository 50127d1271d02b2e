package view

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/internal/waiting"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

var keep = flag.Bool("keep", false, "write the goldens of testdata")

// started returns the event that starts a run of 30 epochs with 10 steps each.
func started(devices ...string) train.Started {
	r := recipe.Default("resnet20")
	r.Epochs, r.Batch, r.Replicas = 30, 128, 8
	r.Data = recipe.Data{Kind: "cifar10", Split: "train", Samples: 1280, Classes: 10}
	e := train.Started{Recipe: r, Devices: devices, Kernels: "fma", TotalSteps: 300, Deterministic: true}
	for range devices {
		e.Placement = append(e.Placement, 8/len(devices))
	}
	return e
}

// trained returns the state of a run after 25 steps, in its third epoch.
func trained() *State {
	s := &State{Title: "resnet20  cifar10", Elapsed: 42 * time.Second}
	at := func(step int) time.Duration { return time.Duration(step) * 1500 * time.Millisecond }
	s.Event(started("cpu:0", "cpu:1"), time.Second)
	for step := 1; step <= 25; step++ {
		loss := 2.5 / (1 + float64(step)/10)
		shares := []train.DeviceShare{{Device: "cpu:0", Replicas: 4, Compute: 0.9, SyncWait: 0.02},
			{Device: "cpu:1", Replicas: 4, Compute: 0.7, SyncWait: 0.22}}
		s.Moment(train.Moment{Step: step, Epoch: (step-1)/10 + 1, Rows: 128, Loss: loss, Accuracy: 0.9 - loss/4,
			InputWait: 0.06, Devices: shares}, at(step))
		if step%5 == 0 {
			s.Event(train.Stepped{Step: step, Epoch: (step-1)/10 + 1, Loss: loss,
				Accuracy: evaluation.Figure(0.9 - loss/4), LR: 0.1,
				Throughput: 85 + float64(step), InputWait: 0.06, Remaining: 412, Devices: shares}, at(step))
		}
		if step%10 == 0 {
			v, accuracy := evaluation.Figure(loss*1.1), 0.85-loss/4
			s.Event(train.EpochDone{Epoch: step / 10, ValLoss: &v, ValAccuracy: &accuracy,
				Best: &models.BestEpoch{Epoch: step / 10, Figure: "accuracy", Value: accuracy}}, at(step))
		}
	}
	s.Event(train.DeviceLost{Device: "cpu:1", Step: 22, Reason: "connection reset",
		MovedTo: []string{"cpu:0"}}, at(22))
	s.Event(train.DeviceBack{Device: "cpu:1", Step: 23}, at(23))
	return s
}

// drawnAs returns the view of s on a terminal without colours.
func drawnAs(s *State, size waiting.Size, unicode bool) string {
	var b strings.Builder
	for _, l := range s.Draw(size, unicode) {
		b.WriteString(strings.TrimRight(l.text(Look{}), " ") + "\n")
	}
	return b.String()
}

// TestGoldens compares the views on terminals of several sizes with golden files.
func TestGoldens(t *testing.T) {
	loading := &State{Title: "resnet20  cifar10", Elapsed: time.Second, moment: train.Moment{Doing: "reading the data"}}
	fresh := &State{Elapsed: 3 * time.Second}
	fresh.Event(started("cpu:0", "cpu:1"), time.Second)
	evaluating := trained()
	evaluating.Moment(train.Moment{Step: 20, Epoch: 2, Doing: "evaluating", Samples: 64, Of: 1000}, time.Minute)
	many := trained()
	for i := range 62 {
		many.deviceNamed(fmt.Sprintf("cuda:%d", i)).DeviceShare = train.DeviceShare{Device: fmt.Sprintf("cuda:%d", i),
			Compute: 0.5, SyncWait: 0.4, Replicas: 1}
	}
	masks := trained()
	overlap := evaluation.Figure(0.456)
	e := *masks.measured
	e.ValMIoU = &overlap
	masks.Event(e, time.Minute)
	masks.ranks = []train.RankShare{{Throughput: 55, Compute: 0.8, SyncWait: 0.1, InputWait: 0.05},
		{Throughput: 53, Compute: 0.7, SyncWait: 0.2, InputWait: 0.05}}
	for name, c := range map[string]struct {
		state   *State
		size    waiting.Size
		unicode bool
	}{
		"loading": {loading, waiting.Size{Columns: 80, Rows: 24}, true},
		"fresh":   {fresh, waiting.Size{Columns: 80, Rows: 24}, true},
		"80x24":   {trained(), waiting.Size{Columns: 80, Rows: 24}, true},
		"200x50":  {trained(), waiting.Size{Columns: 200, Rows: 50}, true},
		"60x24":   {evaluating, waiting.Size{Columns: 60, Rows: 24}, true},
		"plain":   {trained(), waiting.Size{Columns: 80, Rows: 24}, false},
		"devices": {many, waiting.Size{Columns: 80, Rows: 24}, true},
		"masks":   {masks, waiting.Size{Columns: 100, Rows: 30}, true},
		"30x8":    {trained(), waiting.Size{Columns: 30, Rows: 8}, true},
	} {
		got, file := drawnAs(c.state, c.size, c.unicode), "testdata/"+name+".txt"
		if *keep {
			if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s:\n%swant\n%s(go test ./cmd/bnctl/internal/view -keep writes what is shown now)", name,
				got, want)
		}
	}
}

// hostile returns a run with names, messages and figures that are hard to draw.
func hostile() *State {
	s := trained()
	long := strings.Repeat("猫-very-long-name-", 40) + "\x1b[2J\a\n"
	e := started(long+"1", long+"2", "\u202e")
	e.Recipe.Model, e.Kernels = long, long
	s.Event(e, 0)
	nan, inf := math.NaN(), math.Inf(1)
	figure := evaluation.Figure(nan)
	for step, v := range []float64{nan, inf, -inf, math.MaxFloat64, -math.MaxFloat64, 0, 1} {
		s.Moment(train.Moment{Step: step, Rows: 1, Loss: v, Accuracy: v, InputWait: v,
			Devices: []train.DeviceShare{{Device: long + "1", Compute: v, SyncWait: v}}}, time.Second)
		s.Event(train.Stepped{Step: step, Loss: v, Accuracy: evaluation.Figure(v), Throughput: v, Remaining: v,
			InputWait: v}, time.Second)
		s.Event(train.EpochDone{ValLoss: &figure, ValAccuracy: &v, ValMIoU: &figure, Warning: long}, time.Second)
	}
	s.Event(train.DeviceLost{Device: long + "1", Reason: long}, -time.Second)
	s.Event(train.DeviceLost{Device: "unknown", Excluded: long}, 1000*time.Hour)
	s.Moment(train.Moment{Step: 1 << 40, Epoch: -5, Doing: long, Samples: -1, Of: 3}, 0)
	return s
}

// TestAnySize: at every size, whatever is shown, the view has fewer lines than the terminal has rows. Each
// line has fewer columns than the terminal, and only printable characters.
func TestAnySize(t *testing.T) {
	single := &State{}
	e := started("ref")
	e.Recipe.Epochs, e.Recipe.Steps, e.TotalSteps = 0, 1, 1
	single.Event(e, 0)
	many := trained()
	for i := range 64 {
		many.deviceNamed(fmt.Sprint("device", i)).lost = strings.Repeat("lost", i%2)
	}
	for name, s := range map[string]*State{"hostile": hostile(), "trained": trained(), "nothing": {}, "one step": single,
		"many": many} {
		for _, columns := range []int{0, 1, 2, 5, 10, 20, 40, 59, 60, 79, 80, 81, 120, 200, 10000} {
			for _, rows := range []int{0, 1, 2, 3, 5, 10, 17, 20, 24, 50, 10000} {
				for _, utf8 := range []bool{true, false} {
					size := waiting.Size{Columns: columns, Rows: rows}
					lines := s.Draw(size, utf8)
					if len(lines) >= max(rows, 1) {
						t.Fatalf("%s, %v: %d lines", name, size, len(lines))
					}
					for _, l := range lines {
						check(t, fmt.Sprintf("%s, %v", name, size), l, columns, utf8)
					}
				}
			}
		}
	}
}

func check(t *testing.T, name string, l line, columns int, utf8 bool) {
	t.Helper()
	text := l.text(Look{})
	if l.columns() >= columns {
		t.Fatalf("%s: %q has %d columns", name, text, l.columns())
	}
	for _, r := range text {
		if !unicode.IsPrint(r) || !utf8 && r >= 0x80 {
			t.Fatalf("%s: %q has %U", name, text, r)
		}
	}
}

// TestFrameIsSmall checks that a whole view with colours does not have more bytes than may be written per
// second.
func TestFrameIsSmall(t *testing.T) {
	for _, size := range []waiting.Size{{Columns: 80, Rows: 24}, {Columns: 200, Rows: 50}} {
		n := 0
		for _, l := range trained().Draw(size, true) {
			n += len(l.text(Look{Unicode: true, Colours: true})) + 5
		}
		t.Logf("%v: %d bytes", size, n)
		if n > 4096 {
			t.Errorf("%v: %d bytes", size, n)
		}
	}
}

// TestLinesEndWithoutColour checks that every line resets the terminal's colours.
func TestLinesEndWithoutColour(t *testing.T) {
	for _, l := range trained().Draw(waiting.Size{Columns: 120, Rows: 40}, true) {
		text := l.text(Look{Unicode: true, Colours: true})
		if i := strings.LastIndex(text, "\x1b["); i >= 0 && !strings.HasPrefix(text[i:], "\x1b[m") {
			t.Errorf("%q", text)
		}
	}
}
