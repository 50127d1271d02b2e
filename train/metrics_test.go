package train

import (
	"encoding/csv"
	"encoding/json"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/recipe"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// logged writes a run to a board: a recipe, from step first to step last, with a report every five
// steps and epochs of ten steps.
func logged(t *testing.T, folder string, r *recipe.Recipe, first, last int) (notes []string) {
	t.Helper()
	b, err := OpenBoard(folder, func(text string) { notes = append(notes, text) })
	if err != nil {
		t.Fatal(err)
	}
	b.Show(Started{Recipe: r, FirstStep: first, Devices: []string{"cpu:0"}})
	for step := first + 1; step <= last; step++ {
		if step%5 == 0 {
			b.Show(Stepped{Step: step, Epoch: (step-1)/10 + 1, Loss: 1 / float64(step), LR: 0.1,
				Devices: []DeviceShare{{Device: "cpu:0", Replicas: 8, Compute: 0.5}}})
		}
		if step%10 == 0 {
			loss, accuracy := evaluation.Figure(math.NaN()), 0.5
			b.Show(EpochDone{Epoch: step / 10, TrainLoss: 2, ValLoss: &loss, ValAccuracy: &accuracy, Seconds: 1.5})
		}
	}
	b.Show(DeviceLost{Device: "cpu:0", Step: last, Reason: "gone"})
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return notes
}

// linesOf returns "event step" or "event epoch" for each line of a log, and "cut" for
// invalid JSON.
func linesOf(t *testing.T, path string) (out []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(text), "\n") {
		t.Errorf("%s does not end a line", path)
	}
	for line := range strings.Lines(string(text)) {
		var v struct {
			Event, Time string
			Step        int `json:"step"`
			Epoch       int `json:"epoch"`
		}
		switch err := json.Unmarshal([]byte(line), &v); {
		case err != nil:
			out = append(out, "cut")
			continue
		case len(v.Time) != len("2026-11-26T10:00:00.000Z"):
			t.Errorf("%s: no time", line)
		case v.Event == "epoch":
			v.Step = v.Epoch
		}
		out = append(out, strings.TrimSpace(v.Event+" "+strings.Repeat("i", v.Step)))
	}
	return out
}

// events returns the result of linesOf for these events.
func events(of ...any) (out []string) {
	for i := 0; i < len(of); i += 2 {
		out = append(out, strings.TrimSpace(of[i].(string)+" "+strings.Repeat("i", of[i+1].(int))))
	}
	return out
}

// TestMetrics checks that a log has each event as a line and each figure as a row. A
// resumed run continues it, also after a truncated line, and repeats nothing. Another run
// has separate files.
func TestMetrics(t *testing.T) {
	folder := t.TempDir()
	r := recipe.Default("mlp-bn")
	lines, table := filepath.Join(folder, "metrics.jsonl"), filepath.Join(folder, "metrics.csv")
	logged(t, folder, r, 0, 12)
	want := events("start", 0, "step", 5, "step", 10, "epoch", 1, "device_lost", 12)
	if got := linesOf(t, lines); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	f, err := os.OpenFile(lines, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(`{"event":"step","ti`)
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	longer := *r
	longer.Kernels = "amx" // a run on other devices is the same run
	if notes := logged(t, folder, &longer, 4, 22); len(notes) > 0 {
		t.Error(notes)
	}
	want = append(want, append([]string{"cut"}, events("start", 0, "step", 15, "step", 20, "epoch", 2, "device_lost",
		22)...)...)
	if got := linesOf(t, lines); !slices.Equal(got, want) {
		t.Errorf("resumed: %q, want %q", got, want)
	}
	text, _ := os.ReadFile(table)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil || len(rows) != 1+4+2 || !slices.Equal(rows[0], metricsColumns) {
		t.Fatalf("%v, %q", err, rows)
	}
	if epoch := rows[3]; epoch[0] != "epoch" || epoch[3] != "1" || epoch[4] != "2" || epoch[10] != "NaN" ||
		epoch[11] != "0.5" || epoch[12] != "" || epoch[13] != "1.5" {
		t.Errorf("epoch %q", epoch)
	}
	other := *r
	other.Seed = 7
	for _, c := range []struct {
		recipe *recipe.Recipe
		first  int
		file   string
	}{{&other, 0, "metrics-2.jsonl"}, {r, 0, "metrics-3.jsonl"}, {&other, 15, ""}, {recipe.Default("lenet-bn"), 15,
		"metrics-4.jsonl"}} {
		notes := logged(t, folder, c.recipe, c.first, 20)
		if (len(notes) == 0) != (c.file == "") || len(notes) > 0 && !strings.Contains(notes[0], c.file) {
			t.Errorf("%+v: %q", c, notes)
		}
	}
	want = events("start", 0, "step", 5, "step", 10, "epoch", 1, "step", 15, "step", 20, "epoch", 2, "device_lost", 20,
		"start", 0, "device_lost", 20)
	if got := linesOf(t, filepath.Join(folder, "metrics-2.jsonl")); !slices.Equal(got, want) {
		t.Errorf("of another recipe: %q, want %q", got, want)
	}
	if got := linesOf(t, lines); len(got) != 11 {
		t.Errorf("other runs have changed the first: %q", got)
	}
}

// A log that cannot be written is reported at the end, and does not affect training.
func TestMetricsThatCannotBeWritten(t *testing.T) {
	folder := t.TempDir()
	b, err := OpenBoard(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Show(Started{Recipe: recipe.Default("mlp-bn")})
	if err := b.metrics.close(); err != nil {
		t.Fatal(err)
	}
	b.Show(Stepped{Step: 1})
	b.Show(Stepped{Step: 2})
	if err := b.Close(); err == nil {
		t.Error("lines that were not written are no error")
	}
	// Figures that are not finite are reported and not dropped without notice.
	b, err = OpenBoard(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Show(Started{Recipe: recipe.Default("mlp-bn")})
	b.Show(Stepped{Step: 1, Loss: math.Inf(1)})
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	text, _ := os.ReadFile(filepath.Join(folder, "metrics-2.jsonl"))
	if !strings.Contains(string(text), `"event":"step"`) || !strings.Contains(string(text), `"error":"`) {
		t.Errorf("%s", text)
	}
}
