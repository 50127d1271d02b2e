package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
)

// expectation is what testdata/answers/make.py expects for a network.
type expectation struct {
	Outputs map[string]struct {
		Shape []int
		Data  []float64
	}
	Probabilities [][]float64
}

const answers = "testdata/answers/"

// predicted runs bnctl predict on the reference device, and returns its output.
func predicted(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, notes bytes.Buffer
	args = append([]string{"bnctl", "predict", "--devices", "ref"}, args...)
	if code := run(context.Background(), args, &out, &notes); code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, notes.String())
	}
	return out.String(), notes.String()
}

// shown has the numbers in the output of a format: for each name, a list of samples, each with its numbers.
// The names are the names of outputs, or "" for the probabilities of classes.
type shown map[string][][]float64

// formatsOf lets predict write the answers for a network in every format, and returns them by format.
func formatsOf(t *testing.T, path string, flags ...string) map[string]shown {
	t.Helper()
	args := append([]string{path, answers + "x.npy", "--top", "9"}, flags...)
	all := map[string]shown{}
	stdout, _ := predicted(t, append(args, "--json")...)
	all["json"] = ofJSON(t, stdout)
	stdout, _ = predicted(t, append(args, "--format", "csv")...)
	all["csv"] = ofCSV(t, stdout)
	stdout, _ = predicted(t, args...)
	all["table"] = ofTable(t, stdout, all["json"])
	dir := t.TempDir()
	predicted(t, append(args, "--format", "npy", "-o", dir+"/y.npy")...)
	all["npy"] = ofNPY(t, dir, all["json"])
	return all
}

func ofJSON(t *testing.T, text string) shown {
	t.Helper()
	s := shown{}
	for line := range strings.Lines(text) {
		var e struct {
			Top []struct {
				Index int
				P     float64
			}
			Outputs map[string]struct{ Data []float64 }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Top != nil {
			p := make([]float64, len(e.Top))
			for _, k := range e.Top {
				p[k.Index] = k.P
			}
			s[""] = append(s[""], p)
		}
		for name, o := range e.Outputs {
			s[name] = append(s[name], o.Data)
		}
	}
	return s
}

func ofCSV(t *testing.T, text string) shown {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	s, samples := shown{}, map[string]int{}
	for _, row := range rows[1:] {
		i, ok := samples[row[0]]
		if !ok {
			i = len(samples)
			samples[row[0]] = i
		}
		if rows[0][1] == "rank" {
			k, _ := strconv.Atoi(row[3])
			s.put("", i, k, row[4])
			continue
		}
		for c, column := range rows[0][1:] {
			at := strings.LastIndex(column, ".")
			k, _ := strconv.Atoi(column[at+1:])
			s.put(column[:at], i, k, row[c+1])
		}
	}
	return s
}

// put sets number k of sample i under a name.
func (s shown) put(name string, i, k int, text string) {
	for len(s[name]) <= i {
		s[name] = append(s[name], nil)
	}
	for len(s[name][i]) <= k {
		s[name][i] = append(s[name][i], math.NaN())
	}
	s[name][i][k], _ = strconv.ParseFloat(text, 64)
}

// ofTable reads lines like "x.npy:0  age 0.5   pose 1 2". Percentages in them are rounded. If a percentage
// agrees with the number in want, the number replaces it.
func ofTable(t *testing.T, text string, want shown) shown {
	t.Helper()
	s, i := shown{}, -1
	for line := range strings.Lines(text) {
		i++
		_, cells, _ := strings.Cut(strings.TrimSpace(line), "  ")
		for _, cell := range strings.Split(cells, "   ") {
			f := strings.Fields(cell)
			if f[len(f)-1] != "%" {
				for k, v := range f[1:] {
					s.put(f[0], i, k, v)
				}
				continue
			}
			k, _ := strconv.Atoi(f[0])
			if f[1] != fmt.Sprintf("%.1f", 100*want[""][i][k]) {
				t.Errorf("class %s has %s %%, want %v", f[0], f[1], want[""][i][k])
			}
			s.put("", i, k, fmt.Sprint(want[""][i][k]))
		}
	}
	return s
}

// ofNPY reads the files in dir: y.npy, or y.NAME.npy for each output.
func ofNPY(t *testing.T, dir string, names shown) shown {
	t.Helper()
	s := shown{}
	for name := range names {
		path := filepath.Join(dir, "y.npy")
		if len(names) > 1 {
			path = filepath.Join(dir, "y."+strings.NewReplacer("/", "_", ":", "_").Replace(name)+".npy")
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		a, err := data.ReadNPY(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.Shape[0] {
			var row []float64
			for _, v := range a.Rows(i, i+1).F32() {
				row = append(row, float64(v))
			}
			s[name] = append(s[name], row)
		}
	}
	return s
}

// A network may end in any kind of layer. Its predictions equal the ones of ONNX Runtime, and are the same in
// every format. Outputs are classes if the graph or a name states so. All other outputs are shown by name.
func TestAnswers(t *testing.T) {
	text, err := os.ReadFile(answers + "expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var networks map[string]expectation
	if err := json.Unmarshal(text, &networks); err != nil {
		t.Fatal(err)
	}
	if len(networks) != 10 {
		t.Fatalf("%d networks", len(networks))
	}
	for name, e := range networks {
		raw := shown{}
		for output, o := range e.Outputs {
			each := len(o.Data) / o.Shape[0]
			for i := range o.Shape[0] {
				raw[output] = append(raw[output], o.Data[i*each:(i+1)*each])
			}
		}
		want := raw
		if e.Probabilities != nil {
			want = shown{"": e.Probabilities}
		}
		for format, got := range formatsOf(t, answers+name+".onnx") {
			agree(t, name+" as "+format, got, want)
		}
		for format, got := range formatsOf(t, answers+name+".onnx", "--logits") {
			if name == "softmax" && len(got["logits"]) == 2 { // the file has no output named logits
				delete(got, "logits")
			}
			agree(t, name+" --logits as "+format, got, raw)
		}
	}
}

// agree compares predictions with the tolerance of float32.
func agree(t *testing.T, what string, got, want shown) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
	for name, rows := range want {
		if len(got[name]) != len(rows) {
			t.Errorf("%s: %q has %d samples, want %d: %v", what, name, len(got[name]), len(rows), got)
			continue
		}
		for i, row := range rows {
			for k, v := range row {
				if len(got[name][i]) != len(row) || !(math.Abs(got[name][i][k]-v) <= 2e-6) {
					t.Fatalf("%s: %q of sample %d is %v, want %v", what, name, i, got[name][i], row)
				}
			}
		}
	}
}

// --task classify states that an output has the logits of classes, where this cannot be recognised. It is an
// error for outputs that cannot be logits.
func TestTask(t *testing.T) {
	stdout, notes := predicted(t, answers+"pose.onnx", answers+"x.npy")
	if !strings.Contains(notes, "--task classify") || strings.Contains(stdout, "%") {
		t.Errorf("a bare dense layer: %s%s", stdout, notes)
	}
	stdout, notes = predicted(t, answers+"pose.onnx", answers+"x.npy", "--task", "classify", "--json")
	if p := ofJSON(t, stdout)[""]; len(p) != 2 || math.Abs(p[0][0]+p[0][1]+p[0][2]-1) > 1e-6 || notes != "" {
		t.Errorf("--task classify: %v %s", p, notes)
	}
	for name, want := range map[string]string{"tags": "ends in sigmoid", "age": "is f32[1]", "two": "2 outputs",
		"map": "not one number for each class"} {
		var out, errs bytes.Buffer
		args := []string{"bnctl", "predict", answers + name + ".onnx", answers + "x.npy", "--task", "classify"}
		if code := run(context.Background(), args, &out, &errs); code != exitMisused ||
			!strings.Contains(errs.String(), want) {
			t.Errorf("%s --task classify: exit code %d: %s", name, code, errs.String())
		}
	}
}

// Outputs are selected by name. Only one array can be written to standard output.
func TestOnly(t *testing.T) {
	x := answers + "x.npy"
	stdout, _ := predicted(t, answers+"two.onnx", x, "--only", "boxes", "--json")
	if got := ofJSON(t, stdout); len(got) != 1 || len(got["boxes"]) != 2 {
		t.Errorf("--only boxes: %v", got)
	}
	stdout, _ = predicted(t, answers+"softmax.onnx", x, "--logits", "--format", "npy")
	a, err := data.ReadNPY(strings.NewReader(stdout))
	if err != nil || len(a.Shape) != 2 || a.Shape[1] != 3 {
		t.Errorf("logits on standard output: %v, %v", a, err)
	}
	for line, want := range map[string]string{
		"two.onnx --format npy":              "add -o FILE.npy",
		"two.onnx --only box":                `did you mean "boxes"?`,
		"two.onnx --only boxes,boxes":        "twice",
		"two.onnx --format npy -o y.bin":     ".npy",
		"pose.onnx --logits --task classify": "contradict",
		"pose.onnx --task segment":           "want classify",
	} {
		f := strings.Fields(line)
		var out, errs bytes.Buffer
		args := append([]string{"bnctl", "predict", answers + f[0], x}, f[1:]...)
		if code := run(context.Background(), args, &out, &errs); code != exitMisused ||
			!strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit code %d: %s", line, code, errs.String())
		}
	}
}
